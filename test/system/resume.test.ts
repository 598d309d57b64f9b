import fs from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { SessionView } from '../../src/api/contract/responses.ts'
import { binFolder } from './bin-folder.ts'
import { expectRefusal } from './expect-refusal.ts'
import { killAll } from './simulate-reboot.ts'
import { TestHome, waitUntil } from './test-home.ts'
import { stubAgents } from './stub-agents.ts'
import { Terminal } from './terminal.ts'

let testHome: TestHome
beforeAll(() => {
  testHome = new TestHome()
})
beforeEach(() => testHome.beginTest())
afterEach(() => testHome.endTest())
afterAll(() => testHome.close())

const demo = (name: string, prompt: string): Promise<SessionView> =>
  testHome.run('--agent', 'demo', '--name', name, prompt)

/** Runs it until it falls silent after two steps, and stops it there. */
async function stoppedHalfway(name: string): Promise<SessionView> {
  await demo(name, `work write=${name}.txt steps=6 delay=10ms hang=3`)
  await testHome.hangs(name)
  await testHome.ok('stop', name)
  return await testHome.status(name)
}

function linesOf(name: string): string[] {
  const file = testHome.path(`${name}.txt`)
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim().split('\n') : []
}

it('resume continues a stopped session in the same thread and repeats no step', async () => {
  const before = await stoppedHalfway('auth')
  expect(before).toMatchObject({ outcome: 'stopped', attempt: 1 })
  expect(linesOf('auth')).toEqual(['step 1', 'step 2'])
  expect(await testHome.ok('resume', 'auth')).toBe('demo-auth')
  expect(await testHome.ended('auth')).toMatchObject({ outcome: 'done', attempt: 2, thread: before.thread })
  expect(linesOf('auth')).toEqual([1, 2, 3, 4, 5, 6].map(step => `step ${step}`))
})

it('resume without a name continues the latest session of this directory that can continue', async () => {
  await stoppedHalfway('old')
  await demo('done', 'work steps=1 delay=1ms')
  await testHome.ended('done')
  await demo('busy', 'work steps=1000 delay=50ms')
  const view = await testHome.json<SessionView>('resume')
  expect(view).toMatchObject({ task: 'old', attempt: 2 })
})

it('resume --follow shows the output from then on and exits with the outcome', async () => {
  await stoppedHalfway('auth')
  const { code, stdout, stderr } = await testHome.oneshot('resume', '--follow')
  expect(code).toBe(0)
  expect(stdout).toMatch(/I continue after step 2\./)
  expect(stdout).not.toContain('I will work on')
  expect(stderr, 'it tells what it will do before it does it').toMatch(
    /^■ stopped demo-auth: .*\n {2}found {2}its conversation .*\n/,
  )
  expect(stderr).toMatch(/\ndemo-auth: attempt 2 resumes thread \S+ {2}\(Ctrl-C leaves it running\)\n✔ done demo-auth/)
})

it('resume starts a resting session at once', async () => {
  await demo('auth', 'work crash=always steps=1 delay=1ms')
  const resting = await waitUntil('it rests', async () => {
    const view = await testHome.status('auth')
    return view.phase === 'resting' && view.restarts > 0 ? view : undefined
  })
  expect((await testHome.json<SessionView>('resume', 'auth')).attempt).toBeGreaterThan(resting.attempt)
})

it('a session whose processes and supervisor were all killed is shown as not running, and resume continues it', async () => {
  await demo('auth', 'work write=auth.txt steps=6 delay=10ms hang=3')
  await testHome.hangs('auth')
  await killAll(testHome)
  expect(await testHome.ok('list')).toMatch(/demo-auth +○ not-running /)
  const { stdout } = await testHome.oneshot('status', 'auth')
  expect(stdout).toMatch(/^○ not-running demo-auth: pid \d+ is gone; no supervisor runs\n/)
  expect(stdout).toMatch(/to continue +oneshot resume demo-auth\n/)
  const resumed = await Promise.all([1, 2, 3].map(() => testHome.spawn(['resume', 'auth'])))
  expect(resumed.map(({ stderr }) => stderr).join('')).not.toContain('is stopping')
  expect(resumed.map(({ code }) => code)).toContain(0)
  expect(await testHome.ended('auth')).toMatchObject({ outcome: 'done', attempt: 2 })
})

describe('oneshot resume', () => {
  it('refuses a running session, a done session and a command', async () => {
    await demo('busy', 'work steps=1000 delay=50ms')
    await demo('done', 'work steps=1 delay=1ms')
    await testHome.ended('done')
    await testHome.run('--name', 'failed', '--headless', '--', 'false')
    await testHome.ended('failed')
    const cases = [
      ['busy', 6, 'session-running', 'demo-busy is running: there is nothing to resume', 'oneshot status demo-busy'],
      ['done', 6, 'session-done', 'demo-done is done', 'oneshot send demo-done "…"'],
      ['failed', 3, 'session-ended', 'command-failed is a command, and is not started twice', 'oneshot run'],
    ] as const
    for (const [name, exit, code, says, hint] of cases)
      await expectRefusal(testHome, ['resume', name], { exit, code, says, hint })
  })
})

describe('an agent that is not logged in', () => {
  /** Answers as codex does before and after somebody has logged in. */
  const CODEX = `cat >/dev/null
if [ ! -e login ]; then echo "Error: not logged in" >&2; exit 1; fi
echo '{"type":"thread.started","thread_id":"01a1de78-69fb-7731-abc7-29a1f6ce73b3"}'
echo '{"type":"turn.started"}'
echo '{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"Hello."}}'
echo '{"type":"turn.completed","usage":{"input_tokens":1234,"cached_input_tokens":0,"output_tokens":42}}'`

  beforeEach(() => {
    testHome.env['PATH'] = binFolder(testHome, { tools: ['tmux'], scripts: { codex: CODEX } })
  })

  it('waits for the user, tells the user what to do, and continues after oneshot resume', async () => {
    await testHome.run('--agent', 'codex', '--name', 'auth', 'fix it')
    await waitUntil('it waits', async () => ((await testHome.status('auth')).phase === 'blocked' ? true : undefined))
    const lines = (await testHome.ok('status', 'auth')).split('\n')
    expect(lines[0]).toMatch(/^▲ blocked codex-auth: waiting for you: .*not logged in.*codex login/)
    expect(lines.at(-1)).toBe('  to continue  oneshot resume codex-auth')
    const sent = await testHome.oneshot('send', 'auth', 'and add tests', '--json')
    expect(JSON.parse(sent.stdout)).toMatchObject({ session: { phase: 'blocked' }, message: { state: 'accepted' } })
    const terminal = await Terminal.open(testHome)
    await terminal.enter('oneshot send auth "and docs"; echo "code=$?"')
    expect((await terminal.shows('code=0')).replaceAll('\n', '')).toMatch(
      /message 3 accepted, but codex-auth is waiting for you: .*\(continue with: oneshot resume codex-auth\)/,
    )
    await terminal.enter('oneshot attach auth; echo "attached=$?"')
    expect(await terminal.shows('attached=3')).toContain('hint: oneshot resume codex-auth')
    fs.writeFileSync(testHome.path('login'), '')
    await testHome.ok('resume', 'auth')
    const view = await waitUntil('it has worked', async () => {
      const now = await testHome.status('auth')
      return now.spent.turns > 0 || now.spent.outputTokens > 0 ? now : undefined
    })
    expect(view.attempt).toBeGreaterThan(1)
    expect(await testHome.ok('status', 'auth')).toMatch(/^ {2}spent +.*tokens read, .* written$/m)
  })
})

it('resume --env gives a session that could not log in the new key of its user', async () => {
  const words = { type: 'result', subtype: 'success', is_error: true, api_error_status: 401, result: 'Invalid API key' }
  const gate = `cat >/dev/null; [ "$KEY" = good ] || { echo '${JSON.stringify(words)}'; exit 1; }`
  testHome.env['PATH'] = binFolder(testHome, { tools: ['tmux'], scripts: stubAgents(gate) })
  Object.assign(testHome.env, { IS_SANDBOX: '1', KEY: 'expired' })
  await testHome.ok('run', '--agent', 'claude', '--name', 'key', 'Do it.')
  await waitUntil('it waits', async () => ((await testHome.status('key')).phase === 'blocked' ? true : undefined))
  expect(await testHome.ok('status', 'key')).toMatch(/to continue\s+oneshot resume claude-key/)
  delete testHome.env['KEY']
  expect(await testHome.oneshot('resume', 'key', '--env', 'KEY')).toMatchObject({ code: 2 })
  testHome.env['KEY'] = 'good'
  await testHome.ok('resume', 'key')
  await waitUntil('it waits again', async () => {
    const view = await testHome.status('key')
    return view.phase === 'blocked' && view.attempt === 2 ? true : undefined
  })
  await testHome.ok('resume', 'key', '--env', 'KEY')
  expect(await testHome.ended('key')).toMatchObject({ outcome: 'done', attempt: 3 })
})
