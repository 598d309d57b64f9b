import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { KEY_NAMES } from '../../src/api/config/keys.ts'
import { COMMANDS } from '../../src/cli/table/commands.ts'
import { attemptFolder } from '../../src/world/os/folders.ts'
import { readClaim } from '../../src/world/os/spool.ts'
import { binFolder } from './bin-folder.ts'
import { expectRefusal } from './expect-refusal.ts'
import { House, isAlive, until } from './house.ts'
import { Terminal } from './terminal.ts'

let house: House
beforeEach(() => {
  house = new House()
})
afterEach(() => house.close())

const SLEEPER = ['--headless', '--', 'sleep', '1000']

describe('config', () => {
  it('shows every key with its value and where it comes from', async () => {
    const user = path.join(house.env['XDG_CONFIG_HOME'] as string, 'oneshot', 'config.toml')
    const project = house.path('.oneshot.toml')
    fs.mkdirSync(path.dirname(user), { recursive: true })
    fs.writeFileSync(user, 'agent = "gemini"\nmax-time = "3h"\n')
    fs.writeFileSync(project, 'max-time = "2h"\ncheckpoint-interval = 90\n')
    house.env['ONESHOT_CHECKPOINT_INTERVAL'] = '120'
    const rows = (await house.ok('config', 'list', '-c', 'name=nightly')).split('\n').map(line => line.split(/ {2,}/))
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
      ['memory', 'none', 'default'],
      ['max-output', '1G', 'default'],
      ['on-exit', '-', 'default'],
      ['on-exit-shell', '-', 'default'],
      ['notify-restarts', '3', 'default'],
    ])
    expect(rows.slice(1).map(([key]) => key)).toEqual([...KEY_NAMES])
    expect(await house.ok('config')).toMatch(/^name +- +default$/m)
    expect(await house.ok('config', 'get', 'max-time')).toBe('2h')
    expect(await house.json('config', 'get', 'agent')).toEqual({ value: 'gemini', origin: 'user', where: user })
    expect(await house.json('config')).toMatchObject({ name: { value: null, origin: 'default', where: null } })
    expect((await house.ok('config', 'path')).split('\n')).toEqual([`user  ${user}`, `project  ${project}`])
    await expectRefusal(house, ['config', 'get', 'agnet'], {
      exit: 2,
      code: 'config-invalid',
      says: 'there is no config key "agnet"',
      hint: 'did you mean agent?',
    })
  })
})

describe('help', () => {
  const names = COMMANDS.filter(command => command.group !== null).map(command => command.name)

  it('is there for every command, with examples, by help and by --help', async () => {
    const texts = await Promise.all(names.map(name => house.ok('help', name)))
    texts.forEach((text, at) => {
      expect(text).toContain(`oneshot ${names[at]}: `)
      expect(text).toContain('Examples:')
    })
    for (const name of ['run', 'list']) expect(await house.ok(name, '--help')).toBe(await house.ok('help', name))
    expect(await house.ok('run', '-h', '--nonsense=no').catch(() => 'refused')).toBe('refused')
  })

  it('gives an overview, and topics', async () => {
    const overview = await house.ok()
    expect(overview).toBe(await house.ok('--help'))
    for (const name of names) expect(overview).toContain(`  ${name}`)
    for (const topic of ['exit-codes', 'environment', 'config']) await house.ok('help', topic)
    expect(await house.ok('help', 'exit-codes')).toContain('124')
    expect((await house.oneshot('help', 'exit-code')).stderr).toContain('did you mean: oneshot help exit-codes?')
  })

  it('knows its version', async () => {
    const { version } = JSON.parse(fs.readFileSync(path.resolve(import.meta.dirname, '../../package.json'), 'utf8'))
    expect(await house.oneshot('--version')).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' })
    expect(await house.ok('version')).toBe(version)
    expect(await house.json('version')).toMatchObject({ version, node: process.versions.node })
  })
})

describe('doctor', () => {
  interface Report {
    ok: boolean
    checks: { check: string; status: string; message: string; hint?: string }[]
  }

  it('finds a usable machine in order', async () => {
    const answer = await house.oneshot('doctor')
    expect(answer).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^all checks passed(, with \d+ warnings?)?\n$/),
    })
    const report = await house.json<Report>('doctor')
    expect(report.ok).toBe(true)
    const checks = report.checks.map(({ check }) => check)
    expect(checks).toEqual(
      expect.arrayContaining(['node', 'tmux', 'state folder', 'disk space', 'supervisor', 'configuration']),
    )
    expect(fs.existsSync(house.home.root)).toBe(false)
  })

  it('exits with 1 when something stands in the way, and repairs what it can', async () => {
    fs.mkdirSync(house.home.sessions, { recursive: true })
    fs.chmodSync(house.home.root, 0o755)
    const open = await house.oneshot('doctor', '--json')
    expect(open.code).toBe(1)
    const found = (JSON.parse(open.stdout) as Report).checks.find(({ check }) => check === 'state folder')
    expect(found).toMatchObject({ status: 'failure', hint: `chmod 700 ${house.home.root}` })
    expect((await house.oneshot('doctor', '--fix')).code).toBe(0)
    expect(fs.statSync(house.home.root).mode & 0o777).toBe(0o700)
    expect(await house.daemon()).toMatchObject({ home: house.home.root })
  })

  it('exits with 1 without tmux, and tells a broken configuration', async () => {
    const answer = await house.call(['doctor'], { env: { PATH: binFolder(house), ONESHOT_AGENT: 'nobody' } })
    expect(answer.code).toBe(1)
    expect(answer.stdout).toContain('✖ failure tmux: tmux is not on PATH')
    expect(answer.stdout).toContain('✖ failure configuration: ONESHOT_AGENT cannot be "nobody"')
    expect(answer.stderr).toMatch(/^2 of \d+ checks failed\n$/)
  })
})

it('the state folder is where the environment says, and its own place otherwise', async () => {
  const folderFor = async (env: NodeJS.ProcessEnv): Promise<string | undefined> => {
    const { stdout } = await house.call(['doctor'], { env: { ONESHOT_HOME: undefined, ...env } })
    return /state folder: (\S+) will be made when it is needed/.exec(stdout)?.[1]
  }
  expect(await folderFor({ ONESHOT_HOME: 'relative' })).toBe(house.path('relative'))
  expect(await folderFor({ XDG_STATE_HOME: '/x/state' })).toBe('/x/state/oneshot')
  expect(await folderFor({ XDG_STATE_HOME: undefined })).toBe(path.join(house.root, '.local/state/oneshot'))
})

describe('daemon', () => {
  it('is started, restarted and stopped under running work, and says so', async () => {
    expect(await house.oneshot('daemon', 'status')).toMatchObject({ code: 3, stdout: '' })
    expect((await house.oneshot('daemon', 'stop')).stderr).toBe('it was not running\n')
    expect((await house.oneshot('daemon', 'start')).stderr).toMatch(/^started \(pid \d+, version /)
    const { pid } = await house.run('--name', 'long', ...SLEEPER)
    const first = await house.daemon()
    expect((await house.oneshot('daemon', 'start')).stderr).toMatch(`already running (pid ${first.pid}, `)
    expect(await house.ok('daemon')).toContain('1 live, 0 ended')
    expect((await house.oneshot('daemon', 'restart')).stderr).toMatch(/^restarted \(pid/)
    const second = await house.daemon()
    expect(second.epoch).toBe(first.epoch + 1)
    expect(await house.status('long')).toMatchObject({ phase: 'running', pid })
    expect(await house.ok('daemon', 'log', '-n', '1')).toMatch(/ epoch 2, pid \d+, version .*: supervising 1 sessions$/)
    expect((await house.ok('daemon', 'log')).split('\n').length).toBeGreaterThan(1)
    const stopped = await house.oneshot('daemon', 'stop')
    expect(stopped.stderr).toBe(
      `stopped (pid ${second.pid})\nrunning work continues, unsupervised until the next command that needs the supervisor\n`,
    )
    expect(isAlive(pid as number)).toBe(true)
  })

  it('that is stuck is replaced by restart', async () => {
    const { pid } = await house.run('--name', 'long', ...SLEEPER)
    const stuck = await house.daemon()
    process.kill(stuck.pid, 'SIGSTOP')
    try {
      await house.ok('daemon', 'restart')
      expect(await house.daemon()).toMatchObject({ epoch: stuck.epoch + 1, sessions: { live: 1, ended: 0 } })
      expect(await house.status('long')).toMatchObject({ phase: 'running', pid })
    } finally {
      process.kill(stuck.pid, 'SIGCONT')
    }
    await until('the old one has left', () => (isAlive(stuck.pid) ? undefined : true))
  })

  it('that was stopped is not started by work that ends, but by the next run, which also records that end', async () => {
    const session = await house.run(
      '--name',
      'waiter',
      '--headless',
      '--',
      'sh',
      '-c',
      'until [ -e go ]; do sleep 0.02; done; exit 5',
    )
    const shim = readClaim(attemptFolder(house.home, session.id, 1))?.pid as number
    await house.ok('daemon', 'stop')
    fs.writeFileSync(house.path('go'), '')
    await until('its shim has left', () => (isAlive(shim) ? undefined : true))
    expect((await house.oneshot('daemon', 'status')).code).toBe(3)
    expect(await house.status('waiter')).toMatchObject({
      phase: 'stopping',
      outcome: null,
      reason: 'exit code 5; not concluded yet',
      pid: null,
      exitCode: 5,
    })
    await house.ok('run', '--name', 'next', '--headless', '--', 'true')
    expect(await house.ended('waiter')).toMatchObject({ outcome: 'failed', exitCode: 5 })
    expect((await house.daemon()).epoch).toBe(2)
  })
})

describe('colours', () => {
  const isColoured = async (env: NodeJS.ProcessEnv, ...args: string[]): Promise<boolean> => {
    const { stdout } = await house.call([...args, 'list'], { env: { NO_COLOR: undefined, ...env } })
    return stdout.includes('\u001b[')
  }

  it('are for terminals; --color beats NO_COLOR, which beats the forcing variables', async () => {
    await house.run('--name', 'one', ...SLEEPER)
    expect(await isColoured({})).toBe(false)
    expect(await isColoured({ FORCE_COLOR: '1' })).toBe(true)
    expect(await isColoured({ CLICOLOR_FORCE: '1' })).toBe(true)
    expect(await isColoured({ FORCE_COLOR: '0' })).toBe(false)
    expect(await isColoured({ FORCE_COLOR: '1', NO_COLOR: '1' })).toBe(false)
    expect(await isColoured({ NO_COLOR: '1' }, '--color', 'always')).toBe(true)
    expect(await isColoured({ FORCE_COLOR: '1' }, '--color', 'never')).toBe(false)
    delete house.env['NO_COLOR']
    const terminal = await Terminal.open(house)
    await terminal.enter('oneshot list; NO_COLOR=1 oneshot list; echo "code=$?"')
    await terminal.shows('code=0')
    const rows = (await terminal.screen({ colours: true })).split('\n').filter(line => line.startsWith('command-one'))
    expect(rows.map(row => row.includes('\u001b['))).toEqual([true, false])
  })
})
