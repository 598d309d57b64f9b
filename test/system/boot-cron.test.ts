import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { which } from '../../src/os/which.ts'
import { type RunResult, run } from '../../src/os/run.ts'
import { TestHome, MAIN, waitUntil } from './test-home.ts'
import { obstacleToNamespaces, inNamespace, withSbin } from './namespaces.ts'

/** Debian's, whose folders these are. Another cron would have to be looked for elsewhere. */
const SPOOL = '/var/spool/cron/crontabs'
const obstacle = obstacleToNamespaces('crontab', 'cron') ?? (fs.existsSync(SPOOL) ? undefined : `there is no ${SPOOL}`)

let testHome: TestHome
let mounts: Record<string, string>
beforeEach(() => {
  testHome = new TestHome()
  const ours = (name: string): string => {
    const folder = path.join(testHome.root, name)
    fs.mkdirSync(folder)
    return folder
  }
  // Its table, its notes of what has run, and an /etc in which nothing of this machine is due.
  const etc = ours('etc')
  fs.writeFileSync(path.join(etc, 'crontab'), '')
  mounts = {
    [SPOOL]: ours('spool'),
    '/run': ours('run'),
    '/etc/cron.d': ours('cron.d'),
    '/etc/crontab': `${etc}/crontab`,
  }
})
afterEach(() => testHome.close())

function inside(...argv: string[]): Promise<RunResult> {
  const [program = '', ...args] = inNamespace(mounts, argv)
  return run(program, args, { env: testHome.env, cwd: testHome.project, timeout: 60_000 })
}

const boot = (...words: string[]): Promise<RunResult> => inside(process.execPath, MAIN, 'boot', ...words)

describe.skipIf(obstacle !== undefined)(`a real cron${obstacle === undefined ? '' : ` (${obstacle})`}`, () => {
  it('keeps the line of boot install beside the user’s lines, with an awkward state folder and a long PATH', async () => {
    const theirs = '# mine\n0 5 * * 1\techo 50\\% \n'
    fs.writeFileSync(path.join(testHome.root, 'theirs'), theirs)
    expect((await inside('crontab', path.join(testHome.root, 'theirs'))).code).toBe(0)
    testHome.env['ONESHOT_HOME'] = path.join(testHome.root, `it's 50% $HOME "q"`)
    testHome.env['PATH'] += Array.from({ length: 60 }, (_, at) => `:/opt/a-rather-long-folder-name/${at}/bin`).join('')
    expect(await boot('install', '--with', 'cron')).toMatchObject({ code: 0 })
    const { stdout } = await inside('crontab', '-l')
    expect(stdout.startsWith(theirs)).toBe(true)
    expect(stdout.slice(theirs.length)).toMatch(/^@reboot [^\n]+ # oneshot boot oneshot-[0-9a-f]{8}\n$/)
    const report = JSON.parse((await boot('status', '--json')).stdout) as { installed: object[] }
    expect(report.installed).toMatchObject([{ with: 'cron', isCurrent: true }])
    expect((await boot('remove')).code).toBe(0)
    expect((await inside('crontab', '-l')).stdout).toBe(theirs)
  })

  it('starts the supervisor when cron starts, and agents survive the end of cron', async () => {
    const before = await testHome.run('--name', 'long', '--agent', 'demo', 'steps=1000 delay=50ms')
    await testHome.ok('daemon', 'stop')
    expect((await boot('install', '--with', 'cron')).code).toBe(0)
    const cron = which('cron', withSbin(), '/') as string
    const [program = '', ...args] = inNamespace(mounts, [cron, '-f'])
    // As at boot: hardly any environment.
    const child = spawn(program, args, {
      env: { PATH: '/usr/bin:/bin:/usr/sbin', MINE: testHome.root },
      stdio: 'ignore',
    })
    const gone = new Promise(resolve => child.once('exit', resolve))
    testHome.defer(async () => {
      child.kill('SIGKILL')
      await gone
    })
    await waitUntil('it is there', async () =>
      (await testHome.oneshot('daemon', 'status')).code === 0 ? true : undefined,
    )
    expect(await testHome.status('long')).toMatchObject({ phase: 'running', pid: before.pid })
    const after = await testHome.run('--name', 'after', '--agent', 'demo', 'steps=1000 delay=50ms')
    child.kill('SIGKILL')
    await gone
    expect((await testHome.daemon()).sessions).toEqual({ live: 2, ended: 0 })
    expect(await testHome.status('after')).toMatchObject({ phase: 'running', pid: after.pid })
  })
})
