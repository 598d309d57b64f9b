import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { SessionView } from '../../src/api/contract/responses.ts'
import { randomHex } from '../../src/os/files/file-io.ts'
import { attemptFolder } from '../../src/state/session-folder.ts'
import { run } from '../../src/os/run.ts'
import { TestHome, isAlive, kill, MAIN, waitUntil } from '../system/test-home.ts'
import { Terminal } from '../system/terminal.ts'
import { ARGUMENT_POLLER } from './argument-poller.ts'
import { attackSize } from './attack-size.ts'

const KEY = 'sk-ant-api03-correct-horse-battery-staple-7731'
const PROMPT = 'steps=1 pause=100 my-private-plan-4242'
const isRoot = process.getuid?.() === 0

let testHome: TestHome
let poller: ChildProcess | undefined
beforeEach(() => {
  testHome = new TestHome({ ANTHROPIC_API_KEY: KEY })
})
afterEach(async () => {
  poller?.kill('SIGKILL')
  await testHome.close()
})

/** Polls as another user where that is possible: every user can read every argument list. */
async function poll(...words: string[]): Promise<() => string[]> {
  let seen = ''
  const user = isRoot ? { uid: 65_534, gid: 65_534 } : {}
  poller = spawn('perl', ['-e', ARGUMENT_POLLER, ...words], { ...user, stdio: ['ignore', 'pipe', 'inherit'], cwd: '/' })
  poller.stdout?.on('data', (data: Buffer) => (seen += data.toString()))
  await waitUntil('somebody looks', () => (seen.startsWith('ready') ? true : undefined))
  return () => seen.split('\n').slice(1, -1)
}

it('oneshot shows keys of the environment in no argument list, at start and restart, with and without a terminal', async ({
  skip,
}) => {
  if ((await run('perl', ['-v'], {})).code !== 0) return skip('perl is not installed')
  const seen = await poll(KEY)
  for (let round = 0; round < attackSize(3, 40); round++) {
    const flags = ['--restart', 'on-failure', '--max-restarts', '1']
    const session = await testHome.run('--name', `plain-${round}`, ...flags, '--', 'sh', '-c', 'exit 3')
    const terminal = await testHome.run('--name', `tty-${round}`, '--tty', '--', 'sh', '-c', 'exit 0')
    await testHome.ended(session.name)
    await testHome.ended(terminal.name)
  }
  expect(seen()).toEqual([])
})

it('oneshot shows words of a prompt in no argument list, at start, attach and restart, although it makes names of them', async ({
  skip,
}) => {
  if ((await run('perl', ['-v'], {})).code !== 0) return skip('perl is not installed')
  // The word belongs to this test alone, because other tests may run on this machine.
  const word = `zanzibar${randomHex(4)}`
  const seen = await poll(word)
  const begin = async (prompt: string, ...flags: string[]): Promise<SessionView> => {
    const input = Buffer.from(prompt)
    const { stdout } = await testHome.call(['run', '--json', '--agent', 'demo', ...flags, '-'], { input })
    return JSON.parse(stdout) as SessionView
  }
  const work = `${word} steps=100000 delay=20ms`
  const sessions = [await begin(work), await begin(work, '--tty')]
  expect(sessions.map(({ name }) => name)).toEqual(expect.arrayContaining([expect.stringContaining(word)]))
  const terminal = await Terminal.open(testHome)
  for (const { id } of sessions) {
    await terminal.enter(`oneshot attach ${id}`)
    await terminal.shows(/step\D+\d+\D+100000/)
    await terminal.press('C-b', 'd')
    await terminal.shows('detached')
    await terminal.clear()
    const { pid } = await testHome.status(id)
    process.kill(pid ?? 0, 'SIGKILL')
    await waitUntil('it is restarted', async () => ((await testHome.status(id)).attempt > 1 ? true : undefined))
    await testHome.ok('stop', id)
    await testHome.ended(id)
  }
  expect(seen()).toEqual([])
})

it('the next supervisor empties the copies of the environment of an attempt that ended without a supervisor', async () => {
  const wait = ['--', 'sh', '-c', `until [ -e '${testHome.path('go')}' ]; do sleep 0.02; done`]
  const sessions = [
    await testHome.run('--name', 'plain', '--headless', ...wait),
    await testHome.run('--name', 'tty', '--tty', ...wait),
  ]
  const copies = sessions.map(({ id }) => attemptFolder(testHome.home, id, 1).enter)
  for (const file of copies) expect(fs.readFileSync(file, 'utf8')).toContain(KEY)
  const { pid } = await testHome.daemon()
  kill(Number(fs.readFileSync(path.join(testHome.home.root, 'keeper.pid'), 'utf8')))
  kill(pid)
  fs.writeFileSync(testHome.path('go'), '')
  await waitUntil('the programs have ended', () => (sessions.some(one => isAlive(one.pid ?? 0)) ? undefined : true))
  await testHome.ok('daemon', 'start')
  for (const { id } of sessions) {
    await testHome.ended(id)
    const { enter, launch } = attemptFolder(testHome.home, id, 1)
    expect([enter, launch].map(file => fs.readFileSync(file, 'utf8'))).toEqual(['', ''])
  }
})

it('the command line hides a prompt and a variable among its arguments from `ps` once it has read them', async () => {
  const flags = ['run', '--follow', '--agent', 'demo', '--env', `TOKEN=${KEY}`, PROMPT]
  const child = spawn(process.execPath, [MAIN, ...flags], { cwd: testHome.project, env: testHome.env, stdio: 'pipe' })
  let said = ''
  child.stderr.on('data', (data: Buffer) => (said += data.toString()))
  await waitUntil('it follows', () => (said.includes('leaves it running') ? true : undefined))
  const line = fs.readFileSync(`/proc/${child.pid}/cmdline`, 'utf8')
  child.kill('SIGINT')
  expect(line.replaceAll('\0', '')).toBe('oneshot run')
})
