import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { KEY_NAMES } from '../../src/api/config/keys.ts'
import { COMMAND_INDEX } from '../../src/cli/command-index.ts'
import { attemptFolder } from '../../src/state/session-folder.ts'
import { readClaim } from '../../src/state/shim-records.ts'
import { binFolder } from './bin-folder.ts'
import { expectRefusal } from './expect-refusal.ts'
import { isAlive, waitUntil, TestHome } from './test-home.ts'
import { Terminal } from './terminal.ts'

let testHome: TestHome
beforeEach(() => {
  testHome = new TestHome()
})
afterEach(() => testHome.close())

const SLEEPER = ['--headless', '--', 'sleep', '1000']

describe('oneshot config', () => {
  it('shows every key with its value and where it comes from', async () => {
    const user = path.join(testHome.env['XDG_CONFIG_HOME'] as string, 'oneshot', 'config.toml')
    const project = testHome.path('.oneshot.toml')
    fs.mkdirSync(path.dirname(user), { recursive: true })
    fs.writeFileSync(user, 'agent = "gemini"\nmax-time = "3h"\n')
    fs.writeFileSync(project, 'max-time = "2h"\ncheckpoint-interval = 90\n')
    testHome.env['ONESHOT_CHECKPOINT_INTERVAL'] = '120'
    const rows = (await testHome.ok('config', 'list', '-c', 'name=nightly'))
      .split('\n')
      .map(line => line.split(/ {2,}/))
    expect(rows).toEqual([
      ['KEY', 'VALUE', 'FROM'],
      ['agent', 'gemini', `user: ${user}`],
      ['autonomy', 'full', 'default'],
      ['resilient', 'true', 'default'],
      ['checkpoints', 'ref', 'default'],
      ['checkpoint-interval', '2m', 'environment: ONESHOT_CHECKPOINT_INTERVAL'],
      ['checkpoint-push', 'none', 'default'],
      ['nested', 'false', 'default'],
      ['project-files', 'true', 'default'],
      ['beads', 'false', 'default'],
      ['name', 'nightly', 'option'],
      ['max-time', '2h', `project: ${project}`],
      ['max-restarts', '10', 'default'],
      ['restart-window', '10m', 'default'],
      ['restart-delay', '2s', 'default'],
      ['restart-max-delay', '1m4s', 'default'],
      ['silence', 'agent', 'default'],
      ['limit-wait', '1d', 'default'],
      ['resume-within', '3d', 'default'],
      ['stop-grace', '5s', 'default'],
      ['memory', 'none', 'default'],
      ['max-output', '1G', 'default'],
      ['keep-ended', 'none', 'default'],
      ['on-exit', '-', 'default'],
      ['on-exit-shell', '-', 'default'],
      ['notify-restarts', '3', 'default'],
    ])
    expect(rows.slice(1).map(([key]) => key)).toEqual([...KEY_NAMES])
    expect(await testHome.ok('config')).toMatch(/^name +- +default$/m)
    expect(await testHome.ok('config', 'get', 'max-time')).toBe('2h')
    expect(await testHome.json('config', 'get', 'agent')).toEqual({ value: 'gemini', origin: 'user', where: user })
    expect(await testHome.json('config')).toMatchObject({ name: { value: null, origin: 'default', where: null } })
    expect((await testHome.ok('config', 'path')).split('\n')).toEqual([`user  ${user}`, `project  ${project}`])
    await expectRefusal(testHome, ['config', 'get', 'agnet'], {
      exit: 2,
      code: 'config-invalid',
      says: 'there is no config key "agnet"',
      hint: 'did you mean agent?',
    })
  })
})

describe('oneshot help and version:', () => {
  const names = COMMAND_INDEX.filter(command => command.group !== null).map(command => command.name)

  it('help and --help show every command with examples', async () => {
    const texts = await Promise.all(names.map(name => testHome.ok('help', name)))
    texts.forEach((text, at) => {
      expect(text).toContain(`oneshot ${names[at]}: `)
      expect(text).toContain('Examples:')
    })
    for (const name of ['run', 'list']) expect(await testHome.ok(name, '--help')).toBe(await testHome.ok('help', name))
    expect(await testHome.ok('run', '-h', '--nonsense=no').catch(() => 'refused')).toBe('refused')
  })

  it('help shows an overview and topics', async () => {
    const overview = await testHome.ok()
    expect(overview).toBe(await testHome.ok('--help'))
    for (const name of names) expect(overview).toContain(`  ${name}`)
    for (const topic of ['exit-codes', 'environment', 'config']) await testHome.ok('help', topic)
    expect(await testHome.ok('help', 'exit-codes')).toContain('124')
    expect((await testHome.oneshot('help', 'exit-code')).stderr).toContain('did you mean: oneshot help exit-codes?')
  })

  it('version and --version print the version', async () => {
    const { version } = JSON.parse(fs.readFileSync(path.resolve(import.meta.dirname, '../../package.json'), 'utf8'))
    expect(await testHome.oneshot('--version')).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' })
    expect(await testHome.ok('version')).toBe(version)
    expect(await testHome.json('version')).toMatchObject({ version, node: process.versions.node })
  })
})

describe('oneshot doctor', () => {
  interface Report {
    ok: boolean
    checks: { check: string; status: string; message: string; hint?: string }[]
  }

  it('passes all checks on a usable machine', async () => {
    const answer = await testHome.oneshot('doctor')
    expect(answer).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^all checks passed(, with \d+ warnings?)?\n$/),
    })
    const report = await testHome.json<Report>('doctor')
    expect(report.ok).toBe(true)
    const checks = report.checks.map(({ check }) => check)
    expect(checks).toEqual(
      expect.arrayContaining(['node', 'tmux', 'state folder', 'disk space', 'supervisor', 'configuration']),
    )
    expect(fs.existsSync(testHome.home.root)).toBe(false)
  })

  it('exits with 1 when a check fails, and --fix repairs the cause', async () => {
    fs.mkdirSync(testHome.home.sessions, { recursive: true })
    fs.chmodSync(testHome.home.root, 0o755)
    const open = await testHome.oneshot('doctor', '--json')
    expect(open.code).toBe(1)
    const found = (JSON.parse(open.stdout) as Report).checks.find(({ check }) => check === 'state folder')
    expect(found).toMatchObject({ status: 'failure', hint: `chmod 700 ${testHome.home.root}` })
    expect((await testHome.oneshot('doctor', '--fix')).code).toBe(0)
    expect(fs.statSync(testHome.home.root).mode & 0o777).toBe(0o700)
    expect(await testHome.daemon()).toMatchObject({ home: testHome.home.root })
  })

  it('checks the whole database, and its hint lets the supervisor rebuild a damaged one', async () => {
    await testHome.ok('run', '--agent', 'demo', '--name', 'poem', 'steps=1')
    await testHome.ok('wait', 'poem')
    const find = async (): Promise<Report['checks'][number] | undefined> => {
      const { stdout } = await testHome.oneshot('doctor', '--json')
      return (JSON.parse(stdout) as Report).checks.find(({ check }) => check === 'database')
    }
    expect(await find()).toMatchObject({ status: 'ok', message: expect.stringMatching(/ MB, no damage$/) })
    await testHome.ok('daemon', 'stop')
    const { database } = testHome.home
    for (const suffix of ['-wal', '-shm']) fs.rmSync(`${database}${suffix}`, { force: true })
    fs.writeFileSync(database, 'no database')
    const damaged = await find()
    expect(damaged).toMatchObject({ status: 'failure', message: expect.stringContaining('is damaged') })
    const moves = damaged?.hint?.split('; ').filter(command => !command.startsWith('oneshot')) ?? []
    execFileSync('sh', ['-c', moves.join('; ')])
    await testHome.ok('daemon', 'start')
    expect(await find()).toMatchObject({ status: 'ok' })
    expect(await testHome.json('status', 'poem')).toMatchObject({ outcome: 'done' })
  })

  it('exits with 1 without tmux, and reports a broken configuration', async () => {
    const answer = await testHome.call(['doctor'], { env: { PATH: binFolder(testHome), ONESHOT_AGENT: 'nobody' } })
    expect(answer.code).toBe(1)
    expect(answer.stdout).toContain('✖ failure tmux: tmux is not on PATH')
    expect(answer.stdout).toContain('✖ failure configuration: ONESHOT_AGENT cannot be "nobody"')
    expect(answer.stderr).toMatch(/^2 of \d+ checks failed\n$/)
  })
})

it('oneshot takes the state folder from ONESHOT_HOME, else XDG_STATE_HOME, else ~/.local/state', async () => {
  const folderFor = async (env: NodeJS.ProcessEnv): Promise<string | undefined> => {
    const { stdout } = await testHome.call(['doctor'], { env: { ONESHOT_HOME: undefined, ...env } })
    return /state folder: (\S+) will be made when it is needed/.exec(stdout)?.[1]
  }
  expect(await folderFor({ ONESHOT_HOME: 'relative' })).toBe(testHome.path('relative'))
  expect(await folderFor({ XDG_STATE_HOME: '/x/state' })).toBe('/x/state/oneshot')
  expect(await folderFor({ XDG_STATE_HOME: undefined })).toBe(path.join(testHome.root, '.local/state/oneshot'))
})

describe('oneshot daemon', () => {
  it('starts, restarts and stops the supervisor while a session runs, and reports each step', async () => {
    expect(await testHome.oneshot('daemon', 'status')).toMatchObject({ code: 3, stdout: '' })
    expect((await testHome.oneshot('daemon', 'stop')).stderr).toBe('it was not running\n')
    expect((await testHome.oneshot('daemon', 'start')).stderr).toMatch(/^started \(pid \d+, version /)
    const { pid } = await testHome.run('--name', 'long', ...SLEEPER)
    const first = await testHome.daemon()
    expect((await testHome.oneshot('daemon', 'start')).stderr).toMatch(`already running (pid ${first.pid}, `)
    expect(await testHome.ok('daemon')).toContain('1 live, 0 ended')
    expect((await testHome.oneshot('daemon', 'restart')).stderr).toMatch(/^restarted \(pid/)
    const second = await testHome.daemon()
    expect(second.epoch).toBe(first.epoch + 1)
    expect(await testHome.status('long')).toMatchObject({ phase: 'running', pid })
    expect(await testHome.ok('daemon', 'log', '-n', '1')).toMatch(
      / epoch 2, pid \d+, version .*: supervising 1 sessions$/,
    )
    expect((await testHome.ok('daemon', 'log')).split('\n').length).toBeGreaterThan(1)
    const stopped = await testHome.oneshot('daemon', 'stop')
    expect(stopped.stderr).toBe(
      `stopped (pid ${second.pid})\nrunning work continues, unsupervised until the next command that needs the supervisor\n`,
    )
    expect(isAlive(pid as number)).toBe(true)
  })

  it('restart replaces a supervisor that is stuck', async () => {
    const { pid } = await testHome.run('--name', 'long', ...SLEEPER)
    const stuck = await testHome.daemon()
    process.kill(stuck.pid, 'SIGSTOP')
    try {
      await testHome.ok('daemon', 'restart')
      expect(await testHome.daemon()).toMatchObject({ epoch: stuck.epoch + 1, sessions: { live: 1, ended: 0 } })
      expect(await testHome.status('long')).toMatchObject({ phase: 'running', pid })
    } finally {
      process.kill(stuck.pid, 'SIGCONT')
    }
    await waitUntil('the old one has left', () => (isAlive(stuck.pid) ? undefined : true))
  })

  it('stop keeps the supervisor stopped when a session ends; the next run starts it and records that end', async () => {
    const session = await testHome.run(
      '--name',
      'waiter',
      '--headless',
      '--',
      'sh',
      '-c',
      'until [ -e go ]; do sleep 0.02; done; exit 5',
    )
    const shim = readClaim(attemptFolder(testHome.home, session.id, 1))?.pid as number
    await testHome.ok('daemon', 'stop')
    fs.writeFileSync(testHome.path('go'), '')
    await waitUntil('its shim has left', () => (isAlive(shim) ? undefined : true))
    expect((await testHome.oneshot('daemon', 'status')).code).toBe(3)
    expect(await testHome.status('waiter')).toMatchObject({
      phase: 'stopping',
      outcome: null,
      isUnsupervised: true,
      reason: 'exit code 5; no supervisor runs',
      pid: null,
      exitCode: 5,
    })
    await testHome.ok('run', '--name', 'next', '--headless', '--', 'true')
    expect(await testHome.ended('waiter')).toMatchObject({ outcome: 'failed', exitCode: 5 })
    expect((await testHome.daemon()).epoch).toBe(2)
  })
})

describe('colours of the output', () => {
  const isColoured = async (env: NodeJS.ProcessEnv, ...args: string[]): Promise<boolean> => {
    const { stdout } = await testHome.call([...args, 'list'], { env: { NO_COLOR: undefined, ...env } })
    return stdout.includes('\u001b[')
  }

  it('appear on terminals only; --color beats NO_COLOR, which beats FORCE_COLOR', async () => {
    await testHome.run('--name', 'one', ...SLEEPER)
    expect(await isColoured({})).toBe(false)
    expect(await isColoured({ FORCE_COLOR: '1' })).toBe(true)
    expect(await isColoured({ CLICOLOR_FORCE: '1' })).toBe(true)
    expect(await isColoured({ FORCE_COLOR: '0' })).toBe(false)
    expect(await isColoured({ FORCE_COLOR: '1', NO_COLOR: '1' })).toBe(false)
    expect(await isColoured({ NO_COLOR: '1' }, '--color', 'always')).toBe(true)
    expect(await isColoured({ FORCE_COLOR: '1' }, '--color', 'never')).toBe(false)
    delete testHome.env['NO_COLOR']
    const terminal = await Terminal.open(testHome)
    await terminal.enter('oneshot list; NO_COLOR=1 oneshot list; echo "code=$?"')
    await terminal.shows('code=0')
    const rows = (await terminal.screen({ colours: true })).split('\n').filter(line => line.startsWith('command-one'))
    expect(rows.map(row => row.includes('\u001b['))).toEqual([true, false])
  })
})
