import fs from 'node:fs'
import { describe, expect, test } from 'vitest'
import { userMessages } from '../../testkit/model/requests.ts'
import { waitUntil } from '../system/test-home.ts'
import { runArguments, KINDS } from './kit/kinds.ts'
import { useAgentTest } from './kit/agent-test.ts'

const stage = useAgentTest()

describe.each(KINDS)('%s', kind => {
  test('leaves no process behind, not even a tool in a process session of its own', async () => {
    const hidden = 'setsid sleep 1000 </dev/null >/dev/null 2>&1 &'
    const testHome = stage.openHome(kind, { task: [{ shell: `${hidden} echo begun` }, { say: 'All done.' }] })
    const { name } = await testHome.run(...runArguments(kind), '--name', 'litter', 'Do it.')
    const ended = await testHome.ended(name)
    expect(ended.outcome, await testHome.ok('log', name)).toBe('done')
    await expect.poll(() => testHome.processesLeft(), { timeout: 15_000 }).toEqual([])
  })

  test('shows the same in log, follow and session.log, and git status stays empty', async () => {
    const testHome = stage.openHome(kind, { task: [{ say: 'First.', shell: 'echo "a b"' }, { say: 'All done.' }] })
    const follow = await testHome.oneshot('run', ...runArguments(kind), '--name', 'same', '--follow', 'Do it.')
    expect(follow.code, follow.stdout + follow.stderr).toBe(0)
    const log = await testHome.ok('log', 'same')
    expect(follow.stdout.trim()).toBe(log)
    const shown = await waitUntil('the project shows it', () => {
      const text = fs.readFileSync(testHome.path('.agent/session.log'), 'utf8').trim()
      return text === log ? text : undefined
    })
    expect(shown).toBe(log)
    expect(testHome.git('status', '--porcelain')).toBe('')
  })

  test('continues an earlier conversation, and a second session may not use it meanwhile', async () => {
    const testHome = stage.openHome(kind, {
      task: [{ say: 'First is done.' }],
      messages: [{ on: 'Then this', do: [{ gate: 'go', say: 'Then is done.' }] }],
    })
    const { thread } = await waitUntil('the first has ended', async () => {
      const { name } =
        (await testHome.list())[0] ?? (await testHome.run(...runArguments(kind), '--name', 'first', 'First this.'))
      const view = await testHome.status(name)
      return view.phase === 'ended' ? view : undefined
    })
    const more = ['--thread', thread ?? '', ...runArguments(kind)]
    const { name } = await testHome.run(...more, '--name', 'second', 'Then this.')
    await stage.server.until('main', turns => turns.some(turn => userMessages(turn).length === 2))
    const refused = await testHome.oneshot('run', ...more, '--name', 'third', 'And this.')
    expect(refused.code).toBe(6)
    expect(refused.stderr).toContain('uses that conversation now')
    stage.server.openGate('go')
    const ended = await testHome.ended(name)
    expect(ended, await testHome.ok('log', name)).toMatchObject({ outcome: 'done', thread })
    const last = stage.server.main('main').at(-1)
    expect(last && userMessages(last).map(text => text.trim())).toEqual(['First this.', 'Then this.'])
  })

  test('is stopped when it takes more turns than allowed', async () => {
    // The supervisor reads the output every 150 ms, so each answer of the model takes longer than that. opencode 1.18
    // sometimes ignores SIGINT; SIGTERM follows after a second.
    const steps = Array.from({ length: 20 }, (_, n) => ({ say: `Step ${n}.`, shell: `touch step-${n}`, delay: 250 }))
    const testHome = stage.openHome(kind, { task: [...steps, { say: 'All done.' }] })
    const { name } = await testHome.run(...runArguments(kind), '--name', 'dear', '--max-turns', '3', 'Do it.')
    const ended = await testHome.ended(name)
    expect(ended, await testHome.ok('log', name)).toMatchObject({ outcome: 'stopped' })
    expect(ended.reason).toMatch(/turns/)
    expect(fs.existsSync(testHome.path('step-19'))).toBe(false)
  })
})

describe.each(KINDS.filter(kind => kind.startsWith('claude')))('%s', kind => {
  test('keeps the model and its user’s own arguments when it is resumed', async () => {
    const testHome = stage.openHome(kind, {
      task: [{ shell: 'touch one' }, { gate: 'go', shell: 'touch two' }, { say: 'Done.' }],
    })
    const own = ['--append-system-prompt', 'Speak "softly" $(now).']
    const words = [
      ...runArguments(kind),
      '--name',
      'kept',
      '--model',
      'claude-sonnet-9',
      '--effort',
      'low',
      'Do it.',
      '--',
      ...own,
    ]
    const { name } = await testHome.run(...words)
    await stage.server.until('main', turns => turns.length === 2)
    process.kill((await testHome.status(name)).pid ?? 0, 'SIGKILL')
    stage.server.openGate('go')
    expect(await testHome.ended(name)).toMatchObject({ outcome: 'done', attempt: 2 })
    for (const turn of stage.server.main('main')) {
      expect(turn.body).toMatchObject({ model: 'claude-sonnet-9' })
      expect(JSON.stringify(turn.body)).toContain('Speak \\"softly\\" $(now).')
    }
  })

  test('rests until the usage limit of a subscription ends', async () => {
    const resetAt = Math.round(Date.now() / 1000) + 7_200
    const testHome = stage.openHome(kind, [{ status: 429, message: 'limit', resetAt, times: 'ever' }])
    testHome.env['CLAUDE_CODE_OAUTH_TOKEN'] = 'dummy-token'
    delete testHome.env['ANTHROPIC_API_KEY']
    const { name } = await testHome.run(...runArguments(kind), '--name', 'limit', 'Do it.')
    const resting = await waitUntil('it rests', async () => {
      const view = await testHome.status(name)
      return view.phase === 'resting' ? view : undefined
    })
    expect(Date.parse(resting.until ?? '')).toBeGreaterThanOrEqual(resetAt * 1_000)
    expect(Date.parse(resting.until ?? '')).toBeLessThan((resetAt + 120) * 1_000)
    expect(resting.reason).toContain('usage limit')
  })
})

describe.each(KINDS.filter(kind => kind === 'pi' || kind === 'opencode'))('%s', kind => {
  test('is stopped when it exceeds its budget', async () => {
    const usage = { input: 1_000_000, output: 10 }
    const steps = Array.from({ length: 8 }, (_, n) => ({ say: `Step ${n}.`, shell: `touch step-${n}`, usage }))
    const testHome = stage.openHome(kind, { task: [...steps, { say: 'All done.' }] })
    const { name } = await testHome.run(...runArguments(kind), '--name', 'dear', '--budget-usd', '2.5', 'Do it.')
    const ended = await testHome.ended(name)
    expect(ended, await testHome.ok('log', name)).toMatchObject({ outcome: 'stopped' })
    expect(ended.reason).toContain('the budget of $2.5 was reached')
    expect(ended.spent.costUsd).toBeGreaterThan(2.5)
  })
})
