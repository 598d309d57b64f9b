import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { run } from '../../src/os/run.ts'
import { which } from '../../src/os/which.ts'
import { type TestHome, waitUntil } from './test-home.ts'

const ALONE = ['unshare', '--mount', '--propagation', 'private'] as const

/** Returns why the system permits no private namespace here; undefined if it does. */
export function obstacleToNamespaces(...programs: string[]): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can make namespaces for it'
  const missing = ['unshare', 'mount', ...programs].find(name => which(name, withSbin(), '/') === undefined)
  if (missing !== undefined) return `${missing} is not installed`
  const [program, ...args] = [...ALONE, '--cgroup', 'mount', '-t', 'tmpfs', 'none', '/run']
  return spawnSync(program, args).status === 0 ? undefined : 'namespaces may not be made here'
}

export function withSbin(): NodeJS.ProcessEnv {
  return { PATH: `${process.env['PATH']}:/usr/sbin:/sbin:/usr/lib/systemd:/lib/systemd` }
}

/** Returns an argv that runs another one with these folders mounted over the machine's own. */
export function inNamespace(mounts: Readonly<Record<string, string>>, argv: readonly string[]): string[] {
  const script = `while [ "$1" != -- ]; do mount --bind "$1" "$2" || exit 99; shift 2; done; shift; exec "$@"`
  const pairs = Object.entries(mounts).flatMap(([theirs, ours]) => [ours, theirs])
  return [...ALONE, 'sh', '-c', script, 'sh', ...pairs, '--', ...argv]
}

/** A private control group for a service manager. */
export class PrivateCgroup {
  readonly folder: string

  private constructor(folder: string) {
    this.folder = folder
  }

  /** Returns undefined if the system permits none. */
  static make(testHome: TestHome): PrivateCgroup | undefined {
    const mounts = fs.readFileSync('/proc/self/mounts', 'utf8').split('\n')
    const mount = mounts.map(line => line.split(' ')).find(([, , type]) => type === 'cgroup2')?.[1]
    if (mount === undefined) return undefined
    try {
      const folder = path.join(mount, path.basename(testHome.root))
      fs.mkdirSync(folder)
      return new PrivateCgroup(folder)
    } catch {
      return undefined
    }
  }

  /** Returns an argv that runs another one in a group below this one. */
  within(name: string, argv: readonly string[]): string[] {
    const group = path.join(this.folder, name)
    fs.mkdirSync(group, { recursive: true })
    return ['sh', '-c', 'echo $$ >"$1/cgroup.procs" || exit 99; shift; exec "$@"', 'sh', group, ...argv]
  }

  async remove(): Promise<void> {
    const folders = fs
      .readdirSync(this.folder, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isDirectory())
      .map(entry => path.join(entry.parentPath, entry.name))
    // The deepest group comes first; one that still holds an ending process needs a retry.
    for (const folder of [...folders.sort().toReversed(), this.folder]) {
      await waitUntil(`${folder} is empty`, () => removed(folder), 10_000)
    }
  }
}

function removed(folder: string): true | undefined {
  try {
    fs.rmdirSync(folder)
    return true
  } catch {
    return fs.existsSync(folder) ? undefined : true
  }
}

/** A real service manager of a user, with its own control groups and runtime folder. */
export class UserManager {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start(testHome: TestHome, group: PrivateCgroup): Promise<UserManager> {
    const runtime = testHome.env['XDG_RUNTIME_DIR'] as string
    const program = which('systemd', withSbin(), '/') as string
    // systemd 252: without the folder in /run it assumes that systemd did not boot the machine, and exits.
    const script = `mount -t tmpfs none /run && mkdir -p /run/systemd/system &&
umount --recursive --lazy /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup && exec "$@"`
    const alone = [...ALONE, '--cgroup', 'sh', '-c', script, 'sh', program, '--user']
    const [first = '', ...rest] = group.within('.', alone)
    fs.rmSync(runtime, { recursive: true, force: true })
    fs.mkdirSync(runtime, { mode: 0o700 })
    const log = fs.openSync(path.join(testHome.root, 'systemd.log'), 'a')
    const child = spawn(first, rest, { env: testHome.env, stdio: ['ignore', log, log] })
    fs.closeSync(log)
    const manager = new UserManager(child)
    testHome.defer(() => manager.stop())
    const isUp = async (): Promise<true | undefined> =>
      (await systemctl(testHome, 'is-active', 'default.target')).code === 0 ? true : undefined
    await waitUntil('the manager is up', isUp, 10_000)
    return manager
  }

  /** Simulates the end of the last login session: the manager stops its units and exits. */
  async stop(): Promise<void> {
    const { exitCode, signalCode } = this.#child
    if (exitCode !== null || signalCode !== null) return
    const gone = new Promise(resolve => this.#child.once('exit', resolve))
    this.#child.kill('SIGTERM')
    await gone
  }
}

export function systemctl(testHome: TestHome, ...words: string[]): ReturnType<typeof run> {
  return run('systemctl', ['--user', ...words], { env: testHome.env, timeout: 60_000 })
}
