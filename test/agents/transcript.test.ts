import fs from 'node:fs'
import { describe, expect, test } from 'vitest'
import { userMessages } from '../../testkit/model/requests.ts'
import { runArguments, KINDS } from './kit/kinds.ts'
import { useAgentTest } from './kit/agent-test.ts'

const stage = useAgentTest()

describe.each(KINDS)('%s', kind => {
  test('finishes a task with tool calls, and the transcript is readable', async () => {
    const testHome = stage.openHome(kind, {
      task: [
        { say: 'I write the file first.', shell: 'printf "one\\ntwo\\n" > out.txt' },
        { say: 'Now I look at it.', shell: 'cat out.txt' },
        { say: 'All done: two lines.' },
      ],
    })
    const prompt = `Make "out.txt" with $(two) lines;\n- quietly, 'please' – ünd \\n so on`
    const { name } = await testHome.run(...runArguments(kind), '--name', 'walk', prompt)
    const session = await testHome.ended(name)
    expect(session, await testHome.ok('log', name, '--raw')).toMatchObject({ outcome: 'done', attempt: 1, exitCode: 0 })
    expect(fs.readFileSync(testHome.path('out.txt'), 'utf8')).toBe('one\ntwo\n')
    for (const turn of stage.server.main('main')) expect(userMessages(turn).map(text => text.trim())).toEqual([prompt])
    expect(session.messages).toEqual({ accepted: 1, confirmed: 1 })
    expect(session.thread).toEqual(expect.any(String))
    expect(session.spent).toMatchObject({ turns: 3, inputTokens: expect.any(Number) })
    expect(session.spent.outputTokens).toBeGreaterThan(0)
    const log = await testHome.ok('log', name)
    const order = [
      'I write the file first.',
      '● ',
      'out.txt',
      'Now I look at it.',
      '  │ two',
      'All done: two lines.',
      '── done',
    ]
    let at = 0
    for (const words of order) {
      expect(log.slice(at), log).toContain(words)
      at = log.indexOf(words, at)
    }
    expect(log).not.toContain('{"')
    expect(await testHome.ok('log', name, '--raw')).toContain('{"')
    await expect.poll(() => testHome.processesLeft(), { timeout: 15_000 }).toEqual([])
  })
})
