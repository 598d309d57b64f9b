import fs from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ModelServer } from '../../testkit/model/model-server.ts'
import { userMessages } from '../../testkit/model/requests.ts'
import { AgentTestHome } from './kit/agent-test-home.ts'
import { threadIn } from './kit/bare-arguments.ts'
import { KINDS } from './kit/kinds.ts'

// Each text that a test looks for in the output is one word: gemini 0.61 writes each word as an event of its own.
const PROMPT = 'Please do the thing,\nand "quote" it: $HOME <b>'

let server: ModelServer
beforeAll(async () => {
  server = await ModelServer.open()
})
afterAll(() => server.close())

describe.each(KINDS)('%s', kind => {
  let testHome: AgentTestHome
  beforeAll(() => {
    testHome = new AgentTestHome(server, { kinds: [kind] })
  })
  afterAll(() => testHome.close())

  test('prints the words of the scripted model', async () => {
    const script = `${kind}-say`
    server.play(script, [{ say: 'Hello-from-the-script.' }])
    const { code, stdout } = await testHome.runBare(kind, { prompt: PROMPT, script })
    expect(code).toBe(0)
    expect(stdout).toContain('Hello-from-the-script.')
    expect(server.main(script).map(userMessages)).toEqual([[PROMPT]])
  })

  test('runs the commands that the scripted model asks for', async () => {
    const script = `${kind}-shell`
    server.play(script, { task: [{ say: 'First', shell: 'echo one >> out.txt' }, { shell: 'echo two >> out.txt' }] })
    const { code, stdout } = await testHome.runBare(kind, { prompt: PROMPT, script })
    expect({ code, out: fs.readFileSync(testHome.path('out.txt'), 'utf8') }).toEqual({ code: 0, out: 'one\ntwo\n' })
    expect(stdout).toContain('Done.')
    expect(server.main(script).map(userMessages)).toEqual([[PROMPT], [PROMPT], [PROMPT]])
  })

  test('writes the file that the scripted model asks for', async () => {
    const script = `${kind}-write`
    server.play(script, {
      task: [{ write: { path: testHome.path('new.txt'), content: "it's\nnew\n" } }, { say: 'Written.' }],
    })
    const { code, stdout } = await testHome.runBare(kind, { prompt: PROMPT, script })
    expect({ code, text: fs.readFileSync(testHome.path('new.txt'), 'utf8') }).toEqual({ code: 0, text: "it's\nnew\n" })
    expect(stdout).toContain('Written.')
    await expect.poll(() => testHome.processesLeft(), { timeout: 15_000 }).toEqual([])
  })

  test('continues its conversation with the scripted model in a new process after a kill', async () => {
    const script = `${kind}-crash`
    const task = ['one', 'two'].map(name => ({ shell: `touch ${name}.done` }))
    server.play(script, { task: [...task, { say: 'Both-are-there.', gate: script }] })
    const running = testHome.startBare(kind, { prompt: PROMPT, script })
    await server.until(script, turns => turns.length === 3)
    running.kill('SIGKILL')
    const resume = threadIn(kind, (await running.ended).stdout)
    server.openGate(script)
    const { code, stdout } = await testHome.runBare(kind, { prompt: 'Go on.', script, ...(resume && { resume }) })
    expect({ code, hasEnded: stdout.includes('Both-are-there.') }).toEqual({ code: 0, hasEnded: true })
    expect(['one', 'two'].map(name => fs.existsSync(testHome.path(`${name}.done`)))).toEqual([true, true])
    expect(server.main(script).slice(3).map(userMessages)).toContainEqual([PROMPT, 'Go on.'])
  })
})
