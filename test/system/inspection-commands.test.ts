import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { run } from '../../src/os/run.ts'
import { binFolder } from './bin-folder.ts'
import { type CommandResult, isAlive, MAIN, waitUntil, TestHome } from './test-home.ts'
import { Terminal } from './terminal.ts'

let testHome: TestHome
beforeAll(() => {
  testHome = new TestHome()
})
beforeEach(() => testHome.beginTest())
afterEach(() => testHome.endTest())
afterAll(() => testHome.close())

const SLEEPER = ['--headless', '--', 'sleep', '1000']
const go = (): void => fs.writeFileSync(testHome.path('go'), '')

/** Runs a command line with pipes in it. */
function bash(script: string): Promise<CommandResult> {
  const env = { ...testHome.env, PATH: `${binFolder(testHome)}:${testHome.env['PATH']}` }
  return run('bash', ['-c', script], { cwd: testHome.project, env, timeout: 60_000 })
}

/** A command that stays, such as `follow`, with what it has printed so far. */
function begin(...args: string[]) {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: testHome.project, env: testHome.env })
  const printed = { stdout: '', stderr: '' }
  child.stdout.on('data', chunk => (printed.stdout += chunk))
  child.stderr.on('data', chunk => (printed.stderr += chunk))
  const ended = new Promise<number | null>(resolve => child.on('close', resolve))
  return { child, printed, ended }
}

describe('oneshot list', () => {
  it('prints nothing without sessions, and creates no state folder', async () => {
    expect(await testHome.oneshot('list')).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect(fs.existsSync(testHome.home.root)).toBe(false)
  })

  it('shows each session on one line, live sessions first, and obeys its filters', async () => {
    fs.mkdirSync(testHome.path('sub'))
    await testHome.run('--name', 'past', '--headless', '--', 'sh', '-c', 'exit 3')
    await testHome.ended('past')
    await testHome.run('--name', 'here', ...SLEEPER)
    const there = await testHome.run('--name', 'there', '--cwd', 'sub', ...SLEEPER)
    const table = (await testHome.ok('list')).split('\n').map(line => line.split(/ {2,}/))
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(table).toEqual([
      ['NAME', 'STATE', 'AGENT', 'CREATED', 'RESTARTS', 'TITLE'],
      ['command-there', '● running', 'command', time, '0', 'sleep 1000'],
      ['command-here', '● running', 'command', time, '0', 'sleep 1000'],
      ['command-past', '✖ failed', 'command', time, '0', `sh -c 'exit 3'`],
    ])
    expect(await testHome.ok('list', '-q')).toBe('command-there\ncommand-here\ncommand-past')
    expect(await testHome.ok('ls', '-q', '--live')).toBe('command-there\ncommand-here')
    expect(await testHome.ok('list', '-q', '--here')).toBe('command-here\ncommand-past')
    expect(await testHome.ok('list', '-q', '--here', '--live')).toBe('command-here')
    expect((await testHome.ok('list', '--no-headers')).split('\n')).toHaveLength(3)
    expect(await testHome.ok('list', '-o', 'wide')).toMatch(
      new RegExp(`PID +CWD +ID +THREAD[^]*${there.pid} +${testHome.path('sub')} +${there.id}`),
    )
  })

  it('with --live and only ended sessions tells how many ended and how to list them', async () => {
    await testHome.run('--name', 'past', '--headless', '--', 'true')
    await testHome.ended('past')
    const terminal = await Terminal.open(testHome)
    await terminal.enter('oneshot list --live; echo "code=$?"')
    const screen = await terminal.shows('code=0')
    expect(screen).toContain('1 ended')
    expect(screen).toContain('oneshot list')
    expect(screen).not.toContain('start one with')
  })

  it('cuts rows to the width of the terminal and shows the age of sessions', async () => {
    await testHome.run('--name', 'long', '--headless', '--', 'sh', '-c', `exec sleep 1000 # ${'very '.repeat(40)}long`)
    const terminal = await Terminal.open(testHome)
    await terminal.enter('oneshot list; echo "code=$?"')
    const lines = (await terminal.shows('code=0')).split('\n')
    const row = lines.find(line => line.startsWith('command-long')) as string
    expect(row).toMatch(/● running +command +(now|\d+ s ago) +0 +sh -c .*…$/)
    expect(row.length).toBeLessThanOrEqual(100)
  })
})

describe('oneshot status', () => {
  it('without a name shows the latest session of this directory, and prefers a live one', async () => {
    fs.mkdirSync(testHome.path('sub'))
    const status = async (...args: string[]): Promise<string> =>
      (await testHome.json<{ task: string }>('status', ...args)).task
    await testHome.run('--name', 'first', '--headless', '--', 'true')
    await testHome.ended('first')
    await testHome.run('--name', 'second', '--headless', '--', 'true')
    await testHome.ended('second')
    expect(await status()).toBe('second')
    await testHome.run('--name', 'third', ...SLEEPER)
    await testHome.run('--name', 'elsewhere', '--cwd', 'sub', ...SLEEPER)
    expect(await status()).toBe('third')
    await testHome.run('--name', 'fourth', '--headless', '--', 'true')
    await testHome.ended('fourth')
    expect(await status()).toBe('third')
    const there = await testHome.call(['status', '--json'], { cwd: testHome.path('sub') })
    expect(JSON.parse(there.stdout)).toMatchObject({ task: 'elsewhere' })
  })

  it('finds a session by name, task, id or a beginning of each', async () => {
    const { id } = await testHome.run('--name', 'fix-auth', ...SLEEPER)
    for (const word of ['command-fix-auth', 'fix-auth', id, 'command-f', 'fix', id.slice(0, 6)]) {
      expect((await testHome.status(word)).id).toBe(id)
    }
  })

  it('shows the state of a session, and --exit-status passes the exit code on', async () => {
    const { id, pid } = await testHome.run(
      '--name',
      'fix',
      '--headless',
      '--',
      'sh',
      '-c',
      'until [ -e go ]; do sleep 0.02; done; exit 3',
    )
    const lines = (await testHome.ok('status', 'fix')).split('\n')
    expect(lines[0]).toBe('● running command-fix')
    expect(lines).toContain('  agent        command, headless')
    expect(lines).toContain(`  directory    ${testHome.project}`)
    expect(lines).toContain(`  pid          ${pid}`)
    expect(lines).toContain('  attempt      1 (0 restarts)')
    expect(lines).toContain(`  id           ${id}`)
    expect((await testHome.oneshot('status', '--exit-status')).code).toBe(0)
    go()
    await testHome.ended('fix')
    const after = await testHome.oneshot('status', '--exit-status')
    expect(after.code).toBe(3)
    expect(after.stdout).toMatch(/^✖ failed command-fix: exit code 3\n[^]* {2}exit {9}code 3\n/)
  })
})

describe('oneshot log', () => {
  const wrote = async (script: string, ...options: string[]): Promise<void> => {
    await testHome.run('--name', 'writer', ...options, '--', 'sh', '-c', script)
    await testHome.ended('writer')
  }

  it('shows the whole output, the last lines, or the output since a time', async () => {
    await wrote('for i in 1 2 3 4 5; do echo "line $i"; done; printf "no end"', '--headless')
    const lines = ['line 1', 'line 2', 'line 3', 'line 4', 'line 5', 'no end']
    expect(await testHome.ok('log', 'writer')).toBe(lines.join('\n'))
    expect(await testHome.ok('logs', '-n', 'all')).toBe(lines.join('\n'))
    expect(await testHome.ok('log', '-n', '2')).toBe('line 5\nno end')
    expect(await testHome.ok('log', '-n100')).toBe(lines.join('\n'))
    expect(await testHome.ok('log', '-n', '0')).toBe('')
    expect(await testHome.ok('log', '--since', '1h')).toBe(lines.join('\n'))
    expect(await testHome.ok('log', '--since', '2000-01-01')).toBe(lines.join('\n'))
    expect(await testHome.ok('log', '--since', '2999-01-01T00:00:00Z')).toBe('')
  })

  it('shows stderr and stdout in the order in which the program wrote them', async () => {
    await wrote('echo one; echo two >&2; echo three', '--headless')
    expect(await testHome.ok('log', 'writer')).toBe('one\ntwo\nthree')
  })

  it('shows the final state of progress lines, and with --raw every byte', async () => {
    const script = `printf '10%%\\r50%%\\r100%%\\n'; printf '\\033[31mred\\033[0m\\033[K \\bx\\n'; printf '\\000\\377end'`
    await wrote(script, '--headless')
    expect(await testHome.ok('log', 'writer')).toBe('100%\nredx\n\ufffdend')
    expect(await testHome.ok('--color', 'always', 'log')).toBe('100%\n\u001b[31mred\u001b[0mx\n\ufffdend')
    expect((await bash('oneshot log --raw >raw')).code).toBe(0)
    const bytes = '10%\r50%\r100%\n\u001b[31mred\u001b[0m\u001b[K \bx\n\0\xffend'
    expect(fs.readFileSync(testHome.path('raw'), 'latin1')).toBe(bytes)
  })

  it('shows the output of a terminal session as a person would read it', async () => {
    await wrote(`printf '10%%\\r100%%\\n'; printf '\\033[1mbold\\033[0m\\n'; exit 1`)
    expect(await testHome.ok('log', 'writer')).toBe('100%\nbold')
  })

  it('shows the last screen of an editor and of a table that a program redraws', async () => {
    await wrote(
      `printf 'before\\n\\033[?1049h\\033[2;1H~\\033[1;1Hhello\\033[1;6H, world\\033[?1049lafter\\n'
      printf '\\033[H\\033[J'; for n in 1 2 3; do printf '\\033[Htop %s\\n  PID\\n' $n; done`,
    )
    const editor = ['before', '[full-screen program, its last screen:]', 'hello, world', '~', 'after']
    expect(await testHome.ok('log', 'writer')).toBe([...editor, 'top 3', '  PID'].join('\n'))
    expect(await testHome.ok('log', 'writer', '-n', '3')).toBe('after\ntop 3\n  PID')
    expect(await testHome.ok('follow', 'writer')).toContain(
      '[full-screen program: oneshot attach command-writer shows it]',
    )
    expect(await testHome.ok('log', 'writer', '--raw')).toContain('\u001b[?1049h')
  })

  it('shows one attempt of several, and refuses an attempt that does not exist', async () => {
    await testHome.run('--agent', 'demo', '--name', 'crasher', 'work crash=2 steps=3 delay=1ms')
    await testHome.ended('crasher')
    const whole = await testHome.ok('log', 'crasher')
    expect(whole.match(/• step \d/g)).toEqual(['• step 1', '• step 2', '• step 2', '• step 3'])
    expect(whole).toContain('── attempt 1: killed by SIGKILL\n')
    expect(whole).toContain('── attempt 2: continues its thread\n')
    const attempt = async (n: number): Promise<{ type: string; resumed: boolean }> =>
      JSON.parse((await testHome.ok('log', '--attempt', String(n))).split('\n')[0] as string)
    expect(await attempt(1)).toMatchObject({ type: 'thread.started', resumed: false })
    expect(await attempt(2)).toMatchObject({ type: 'thread.started', resumed: true })
    expect(await testHome.oneshot('log', '--attempt', '3')).toMatchObject({
      code: 2,
      stderr: 'error: demo-crasher has had 2 attempts, not 3\nhint: oneshot status demo-crasher\n',
    })
  })

  it('writes the complete output into a pipe, and exits with 0 if the reader leaves early', async () => {
    await wrote('i=0; while [ $i -lt 60000 ]; do i=$((i+1)); echo "line $i"; done', '--headless')
    const size = fs.statSync(
      path.join(testHome.home.sessions, (await testHome.status('writer')).id, 'attempts/1/stdout'),
    ).size
    expect(size).toBeGreaterThan(600_000)
    expect((await bash('oneshot log | wc -c')).stdout.trim()).toBe(String(size))
    expect(await bash('oneshot log | (sleep 0.2; tail -n 1)')).toMatchObject({ stdout: 'line 60000\n' })
    expect(await bash('oneshot log | head -1; echo "${PIPESTATUS[0]}"')).toMatchObject({
      stdout: 'line 1\n0\n',
      stderr: '',
    })
    expect(await bash('oneshot log -f | head -1; echo "${PIPESTATUS[0]}"')).toMatchObject({
      stdout: 'line 1\n0\n',
      stderr: '',
    })
  })

  it('reports an error if it writes to a full disk', async () => {
    await wrote('echo hello', '--headless')
    expect((await bash('oneshot log >/dev/full')).code).toBe(1)
    const full = 'error: cannot write the output: no space left on the device\n'
    expect(await bash('oneshot list >/dev/full')).toMatchObject({ code: 1, stderr: full })
  })
})

describe('oneshot follow', () => {
  const SCRIPT =
    'echo begun; until [ -e go ]; do sleep 0.02; done; i=0; while [ $i -lt 5000 ]; do i=$((i+1)); echo "line $i"; done; exit 3'
  const all = ['begun', ...Array.from({ length: 5000 }, (_, i) => `line ${i + 1}`)].join('\n')

  it.each(['--headless', '--tty'])('shows the whole output and ends with the session (%s)', async mode => {
    await testHome.run('--name', 'writer', mode, '--', 'sh', '-c', SCRIPT)
    const follow = begin('follow')
    const status = begin('follow', '--exit-status', '-q', 'writer')
    await waitUntil('it shows the beginning', () => (follow.printed.stdout === 'begun\n' ? true : undefined))
    go()
    expect(await follow.ended).toBe(0)
    expect(follow.printed.stdout.trimEnd()).toBe(all)
    expect(follow.printed.stderr).toBe('✖ failed command-writer: exit code 3\n')
    expect(await status.ended).toBe(3)
    expect(status.printed).toEqual({ stdout: follow.printed.stdout, stderr: '' })
    expect(await testHome.oneshot('follow')).toMatchObject({ code: 0, stdout: follow.printed.stdout })
  })

  it('continues across the attempts of an agent', async () => {
    await testHome.run('--agent', 'demo', '--name', 'crasher', 'work crash=2 steps=3 delay=20ms')
    const { code, stdout } = await testHome.oneshot('follow', 'crasher')
    expect(code).toBe(0)
    expect(stdout.match(/• step \d/g)).toEqual(['• step 1', '• step 2', '• step 2', '• step 3'])
    expect(stdout).toContain('All 3 steps are done.')
  })

  it('ends at Ctrl-C, and the session continues', async () => {
    const { pid } = await testHome.run('--name', 'writer', '--headless', '--', 'sh', '-c', SCRIPT)
    const follow = begin('follow', 'writer')
    await waitUntil('it shows the beginning', () => (follow.printed.stdout === 'begun\n' ? true : undefined))
    follow.child.kill('SIGINT')
    expect(await follow.ended).toBe(130)
    expect(follow.printed.stderr).toBe('\nthe work continues; stop it with: oneshot stop command-writer\n')
    expect(isAlive(pid as number)).toBe(true)
    expect((await testHome.status('writer')).phase).toBe('running')
  })

  it('shows the output from the first byte as run --follow, which exits with the outcome', async () => {
    go()
    const { code, stdout, stderr } = await testHome.oneshot(
      'run',
      '--follow',
      '--name',
      'writer',
      '--',
      'sh',
      '-c',
      SCRIPT,
    )
    expect(code).toBe(3)
    expect(stdout.trimEnd()).toBe(all)
    expect(stderr).toBe('command-writer  (Ctrl-C leaves it running)\n✖ failed command-writer: exit code 3\n')
  })

  it('restarts a stopped supervisor, as wait does, so that the end is recorded', async () => {
    await testHome.run('--name', 'writer', '--headless', '--', 'sh', '-c', SCRIPT)
    await testHome.ok('daemon', 'stop')
    const follow = begin('follow', 'writer', '--exit-status')
    await waitUntil('it shows the beginning', () => (follow.printed.stdout === 'begun\n' ? true : undefined))
    await testHome.ok('daemon', 'stop')
    const wait = begin('wait', 'writer')
    go()
    expect([await follow.ended, await wait.ended]).toEqual([3, 3])
  })
})

describe('oneshot debug', () => {
  it('prints the record, outbox, files and events of a session, and hides secrets of its environment', async () => {
    const secret = 'hunter2-in-the-environment'
    testHome.env['DEPLOY_TOKEN'] = secret
    await testHome.run('--name', 'broken', '--headless', '--', 'sh', '-c', `echo ${secret}; exit 3`)
    await testHome.ended('broken')
    const text = await testHome.ok('debug', 'broken')
    expect(text.split('\n').filter(line => /^[A-Z]+$/.test(line))).toEqual(['RECORD', 'OUTBOX', 'FILES', 'EVENTS'])
    expect(text).toMatch(/^attempts\/1\/exit +\d+ {2}\S+Z {2}.*status 3/m)
    expect(text).toMatch(/^attempts\/1\/stdout +27 {2}\S+Z$/m)
    expect(text).not.toContain(secret)
    const report = JSON.parse(await testHome.ok('debug', 'broken', '--json', '-n', '1')) as Record<string, unknown[]>
    expect(report['session']).toMatchObject({ phase: { name: 'ended', outcome: 'failed' } })
    expect(report['events']).toHaveLength(1)
  })

  it('refuses a name that no session has', async () => {
    expect(await testHome.oneshot('debug', 'nobody')).toMatchObject({ code: 3, stdout: '' })
  })
})
