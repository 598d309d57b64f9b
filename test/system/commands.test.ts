import { spawn } from 'node:child_process'
import fs from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { binFolder } from './bin-folder.ts'
import { expectRefusal } from './expect-refusal.ts'
import { isAlive, MAIN, waitUntil, TestHome } from './test-home.ts'
import { Terminal } from './terminal.ts'

let testHome: TestHome
beforeAll(() => {
  testHome = new TestHome()
})
beforeEach(() => testHome.beginTest())
afterEach(() => testHome.endTest())
afterAll(() => testHome.close())

const SLEEPER = ['--headless', '--', 'sleep', '1000']
const sh = (script: string): string[] => ['--headless', '--', 'sh', '-c', script]
const WAITER = 'until [ -e go ]; do sleep 0.02; done; exit 5'
const go = (): void => fs.writeFileSync(testHome.path('go'), '')

describe('oneshot wait', () => {
  it('exits with the outcome: 0, the exit code, 128 plus the signal, or 1', async () => {
    const cases = {
      done: ['exit 0', 0],
      failed: ['exit 7', 7],
      killed: ['kill -9 $$', 137],
      ended: ['kill -TERM $$', 143],
    } as const
    const check = async ([name, [script, code]]: [string, readonly [string, number]]): Promise<void> => {
      await testHome.run('--name', name, ...sh(script))
      expect({ name, code: (await testHome.oneshot('wait', name)).code }).toEqual({ name, code })
    }
    await Promise.all(Object.entries(cases).map(check))
    await testHome.run('--name', 'stopped', ...SLEEPER)
    const waiting = testHome.oneshot('wait', 'stopped')
    await testHome.ok('stop', 'stopped')
    expect(await waiting).toMatchObject({
      code: 1,
      stdout: '',
      stderr: '■ stopped command-stopped: stopped by you (killed by SIGINT)\n',
    })
    expect((await testHome.oneshot('wait', 'done', 'killed', 'failed')).code).toBe(137)
    expect((await testHome.oneshot('wait', 'done', 'done')).code).toBe(0)
  })

  it('exits with 124 after --timeout and with 130 at Ctrl-C; the session continues', async () => {
    const { pid } = await testHome.run('--name', 'long', ...SLEEPER)
    expect(await testHome.oneshot('wait', '--timeout', '100ms')).toMatchObject({
      code: 124,
      stderr: 'the timeout is over; not ended yet: command-long\n',
    })
    const child = spawn(process.execPath, [MAIN, 'wait', '--timeout', '60d'], {
      cwd: testHome.project,
      env: testHome.env,
    })
    const ended = new Promise(resolve => child.on('close', resolve))
    await waitUntil('it waits', () => (isWatching(child.pid as number) ? true : undefined))
    child.kill('SIGINT')
    expect(await ended).toBe(130)
    expect(isAlive(pid as number)).toBe(true)
  })

  it('accepts a timeout of 60 days', async () => {
    await testHome.run('--name', 'waiter', ...sh(WAITER))
    const waiting = testHome.oneshot('wait', '--timeout', '60d')
    await waitUntil('the supervisor was asked', async () => (await testHome.daemon()).pid)
    go()
    expect((await waiting).code).toBe(5)
  })
})

/** Whether a process has an inotify watch: it has got as far as waiting. */
function isWatching(pid: number): boolean {
  try {
    return fs.readdirSync(`/proc/${pid}/fd`).some(fd => fs.readlinkSync(`/proc/${pid}/fd/${fd}`).includes('inotify'))
  } catch {
    return false // It has just begun.
  }
}

it('stop gives up waiting after --timeout, and the session still stops', async () => {
  const script = 'trap "echo asked >asked" INT; echo up >up; until [ -e go ]; do sleep 0.02; done'
  await testHome.run('--name', 'slow', ...sh(script))
  await waitUntil('it is up', () => (fs.existsSync(testHome.path('up')) ? true : undefined))
  const answer = await testHome.oneshot('stop', '--timeout', '100ms')
  expect(answer).toMatchObject({
    code: 124,
    stdout: '',
    stderr: 'not ended yet: ◍ stopping command-slow: stopped by you\n',
  })
  go()
  expect(await testHome.ended('slow')).toMatchObject({ outcome: 'stopped' })
  expect(await testHome.oneshot('stop', 'slow')).toMatchObject({ code: 0, stdout: '' })
})

describe('oneshot clean', () => {
  const ended = async (...names: string[]): Promise<void> => {
    for (const name of names) {
      await testHome.run('--name', name, ...sh('true'))
      await testHome.ended(name)
    }
  }

  it('removes ended sessions with all their files, and nothing else', async () => {
    const live = await testHome.run('--name', 'live', ...SLEEPER)
    await ended('one', 'two')
    await expectRefusal(testHome, ['clean'], {
      exit: 2,
      code: 'needs-yes',
      says: 'this would remove 2 ended sessions and their logs',
      hint: 'add --yes, or look first with --dry-run',
    })
    expect(await testHome.ok('clean', '--dry-run')).toBe('command-two\ncommand-one')
    expect(await testHome.ok('clean', '--yes', '--older-than', '1h')).toBe('')
    expect(await testHome.list()).toHaveLength(3)
    expect(await testHome.ok('clean', '--yes', '--older-than', '0s')).toBe('command-two\ncommand-one')
    expect((await testHome.list()).map(view => view.id)).toEqual([live.id])
    expect(fs.readdirSync(testHome.home.sessions)).toEqual([live.id])
    expect(await testHome.oneshot('clean', '--yes')).toMatchObject({ code: 0, stdout: '' })
  })

  it('refuses a live session, and then removes none of the other named sessions', async () => {
    await testHome.run('--name', 'live', ...SLEEPER)
    await ended('one')
    const says = 'command-live has not ended, so it stays'
    const refused = { exit: 6, code: 'session-alive', says, hint: 'oneshot stop command-live' } as const
    await expectRefusal(testHome, ['clean', 'live'], refused)
    await expectRefusal(testHome, ['clean', 'one', 'live'], refused)
    expect(await testHome.ok('clean', 'one')).toBe('command-one')
  })

  it('asks for confirmation at a terminal', async () => {
    await ended('one')
    const terminal = await Terminal.open(testHome)
    await terminal.enter('oneshot clean; echo "code=$?"')
    await terminal.shows('remove 1 ended session and its logs? Your project files stay. [y/N]')
    await terminal.press('Enter')
    await terminal.shows('code=1')
    expect(await testHome.list()).toHaveLength(1)
    await terminal.clear()
    await terminal.enter('oneshot clean; echo "code=$?"')
    await terminal.shows('[y/N]')
    await terminal.enter('y')
    expect(await terminal.shows('code=0')).toContain('removed command-one')
    expect(await testHome.list()).toEqual([])
  })
})

describe('oneshot killall', () => {
  it('needs --yes without a terminal', async () => {
    expect(await testHome.oneshot('killall')).toMatchObject({ code: 0, stdout: '', stderr: 'nothing is running\n' })
    await testHome.run('--name', 'one', ...SLEEPER)
    await testHome.run('--name', 'two', '--tty', '--', 'sleep', '1000')
    const refused = {
      exit: 2,
      code: 'needs-yes',
      says: 'this would stop 2 sessions',
      hint: 'oneshot killall --yes',
    } as const
    await expectRefusal(testHome, ['killall'], refused)
    expect((await testHome.list()).map(view => view.phase)).toEqual(['running', 'running'])
    const lines = (await testHome.ok('killall', '--yes')).split('\n').sort()
    expect(lines).toEqual([
      '■ stopped command-one: stopped by you (killed by SIGINT)',
      '■ stopped command-two: stopped by you (killed by SIGINT)',
    ])
  })

  it('at a terminal shows the sessions and asks; with --no-input it refuses', async () => {
    const { pid } = await testHome.run('--name', 'one', ...SLEEPER)
    const terminal = await Terminal.open(testHome)
    await terminal.enter('oneshot killall --no-input; echo "code=$?"')
    await terminal.shows('code=2')
    await terminal.clear()
    await terminal.enter('oneshot killall; echo "code=$?"')
    expect(await terminal.shows('stop 1 session? [y/N]')).toContain('● running command-one')
    await terminal.enter('no')
    await terminal.shows('code=1')
    expect(isAlive(pid as number)).toBe(true)
    await terminal.clear()
    await terminal.enter('oneshot killall; echo "code=$?"')
    await terminal.shows('[y/N]')
    await terminal.enter('yes')
    expect(await terminal.shows('code=0')).toContain('■ stopped command-one')
    expect(isAlive(pid as number)).toBe(false)
  })
})

describe('oneshot run', () => {
  it('prints only the name when piped, and the next steps at a terminal', async () => {
    expect(await testHome.oneshot('run', '--name', 'piped', '--', 'true')).toMatchObject({
      stdout: 'command-piped\n',
      stderr: '',
    })
    const terminal = await Terminal.open(testHome)
    await terminal.enter('oneshot run --name seen -- sleep 1000; echo "code=$?"')
    const screen = await terminal.shows('code=0')
    for (const text of [
      'command-seen  sleep 1000',
      'task    seen',
      'oneshot follow command-seen',
      'oneshot attach command-seen',
      'oneshot stop command-seen',
    ]) {
      expect(screen).toContain(text)
    }
  })

  it('reads a prompt that is typed at a terminal', async () => {
    const terminal = await Terminal.open(testHome)
    await terminal.enter('oneshot run --agent demo --name typed -; echo "code=$?"')
    await terminal.shows('reading the prompt from this terminal; end it with Ctrl-D')
    await terminal.enter('typed by hand steps=1 delay=1ms')
    await terminal.press('C-d')
    await terminal.shows('code=0')
    expect(await testHome.ended('typed')).toMatchObject({ outcome: 'done', title: 'typed by hand steps=1 delay=1ms' })
  })

  it('with --max-time ends the session, and the reason names the limit', async () => {
    const { pid } = await testHome.run('--name', 'limited', '--max-time', '1s', ...SLEEPER)
    expect(await testHome.ended('limited')).toMatchObject({
      outcome: 'stopped',
      reason: 'the time limit of 1 s was reached (killed by SIGINT)',
      signal: 'SIGINT',
    })
    expect(isAlive(pid as number)).toBe(false)
    testHome.env['ONESHOT_MAX_TIME'] = '90m'
    const view = await testHome.run(...SLEEPER)
    expect(Date.parse(view.deadline as string) - Date.parse(view.createdAt)).toBe(90 * 60_000)
  })

  it('takes a name from ONESHOT_TMUX_SESSION, and numbers the names that it makes up', async () => {
    expect((await testHome.run(...sh('true'))).name).toBe('command-true')
    expect((await testHome.run(...sh('true'))).name).toBe('command-true-2')
    testHome.env['ONESHOT_TMUX_SESSION'] = 'nightly'
    expect((await testHome.run(...SLEEPER)).name).toBe('command-nightly')
    expect((await testHome.oneshot('run', ...SLEEPER)).code).toBe(6)
  })
})

describe('with ONESHOT_RESILIENT=false,', () => {
  beforeEach(() => {
    testHome.env['ONESHOT_RESILIENT'] = 'false'
  })

  it('run passes on the input, output and exit code of a command, and records no session', async () => {
    const input = Buffer.from('typed\n')
    const words = ['run', '--', 'sh', '-c', 'read -r line; echo "got $line"; echo oops >&2; exit 7']
    const env = { ONESHOT_HOME: testHome.path('home') }
    const answer = await testHome.spawn(words, { input, env })
    expect(answer).toMatchObject({ code: 7, stdout: 'got typed\n', stderr: 'oops\n' })
    expect(fs.existsSync(env.ONESHOT_HOME)).toBe(false)
  })

  it.each([
    ['TERM', 143],
    ['KILL', 137],
    ['SEGV', 139],
  ])('run exits with the code of a command that SIG%s kills: %i', async (signal, code) => {
    expect((await testHome.spawn(['run', '--', 'sh', '-c', `kill -${signal} $$`])).code).toBe(code)
  })

  it('run gives an agent its prompt byte for byte', async () => {
    testHome.env['IS_SANDBOX'] = '1'
    testHome.env['PATH'] = binFolder(testHome, { scripts: { claude: 'cat >received; echo "$PWD $*"; exit 3' } })
    fs.mkdirSync(testHome.path('sub'))
    const words = ['run', '--cwd', 'sub', '--prompt-file', '-', '--', '--model', 'opus']
    const answer = await testHome.spawn(words, { input: Buffer.from('a\0b\xff', 'latin1') })
    expect(answer.code).toBe(3)
    expect(answer.stdout).toMatch(new RegExp(`^${testHome.path('sub')} -p .*--model opus\n$`))
    expect(fs.readFileSync(testHome.path('sub', 'received'), 'latin1')).toBe('a\0b\xff')
  })

  it('run refuses a missing program', async () => {
    await expectRefusal(testHome, ['run', '--', 'no-such-program'], {
      exit: 1,
      code: 'program-missing',
      says: 'no-such-program was not found on PATH',
      hint: 'install it',
    })
  })
})
