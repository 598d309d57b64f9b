import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { run } from '../../src/os/run.ts'
import { ShiftedClock } from '../chaos/environment/shifted-clock.ts'
import { expectRefusal } from '../system/expect-refusal.ts'
import { SmallDisk } from '../system/small-disk.ts'
import { isAlive, kill, ProcessHome, type TestHome, waitUntil } from '../system/test-home.ts'

const NO_MOUNT = 'disks cannot be made here'
const REPOSITORY = path.resolve(import.meta.dirname, '../..')
const GREEDY = ['--', 'sh', '-c', 'while :; do cat /dev/zero; sleep 0.01; done']
const FULL = {
  exit: 1,
  code: 'disk-full',
  says: 'no space left for the state folder',
  hint: 'free some space',
} as const

let testHome: TestHome
beforeEach(() => {
  testHome = new ProcessHome()
})
afterEach(() => testHome.close())

const reserve = (): string => path.join(testHome.home.root, 'reserve')

async function fill(disk: SmallDisk): Promise<void> {
  await testHome.ok('run', '--name', 'quiet', '--headless', '--', 'sleep', '1000')
  await waitUntil('the supervisor has its reserve', () => fs.existsSync(reserve()) || undefined)
  await testHome.ok('run', '--name', 'greedy', '--headless', ...GREEDY)
  await waitUntil('the disk is full', () => disk.room === 0 || undefined)
}

async function killSupervisor(): Promise<void> {
  const { pid } = await testHome.daemon()
  kill(Number(fs.readFileSync(testHome.home.keeperPid, 'latin1')))
  kill(pid)
  await waitUntil('the supervisor is gone', () => !isAlive(pid) || undefined)
}

describe('while a session has used up the quota of its user', () => {
  /** Returns undefined if there is no C compiler. */
  function preloadQuota(): string | undefined {
    const library = path.join(testHome.root, 'quota.so')
    const source = path.join(import.meta.dirname, 'quota.c')
    return spawnSync('cc', ['-O2', '-shared', '-fPIC', '-o', library, source, '-ldl']).status === 0
      ? library
      : undefined
  }

  it('run names the cause, and stop, hold and clean succeed, also after the supervisor was killed', async ({
    skip,
  }) => {
    const library = preloadQuota()
    if (library === undefined) return skip('there is no C compiler')
    const disk = await SmallDisk.under(testHome, 32)
    if (disk === undefined) return skip(NO_MOUNT)
    testHome.env['LD_PRELOAD'] = library
    await fill(disk)
    await expectRefusal(testHome, ['run', '--headless', '--', 'true'], FULL)
    await testHome.ok('hold', 'quiet')
    expect(await testHome.status('quiet')).toMatchObject({ phase: 'blocked', pid: null })
    await killSupervisor()
    for (const name of fs.readdirSync(testHome.home.root).filter(name => name.startsWith('reserve')))
      fs.rmSync(path.join(testHome.home.root, name), { force: true })
    await waitUntil('the disk is full again', () => disk.room === 0 || undefined)
    await testHome.ok('stop', 'greedy')
    expect(await testHome.status('greedy')).toMatchObject({ phase: 'ended', outcome: 'stopped' })
    await testHome.ok('clean', 'greedy', '--yes')
    await testHome.ok('run', '--name', 'after', '--headless', '--', 'true')
    expect(await testHome.ended('after')).toMatchObject({ outcome: 'done' })
    expect(await testHome.ok('daemon', 'log')).not.toMatch(/unknown error|system error/i)
  })
})

describe('while files may have two megabytes (ulimit -f)', () => {
  it('the supervisor keeps a smaller reserve, and ends no session but the one that writes more', async () => {
    const limited = ['-c', 'ulimit -f 2048; exec "$@"', 'bash', 'node', path.join(REPOSITORY, 'dist/main.cjs')]
    const options = { cwd: testHome.project, env: testHome.env }
    await run('bash', [...limited, 'run', '--name', 'quiet', '--headless', '--', 'sleep', '1000'], options)
    await waitUntil('the supervisor has its reserve', () => fs.existsSync(reserve()) || undefined)
    expect(fs.statSync(reserve()).size).toBe(2_097_152 / 16)
    await testHome.ok('run', '--name', 'greedy', '--headless', ...GREEDY)
    expect(await testHome.ended('greedy')).toMatchObject({ outcome: 'failed', reason: 'killed by SIGXFSZ' })
    expect(await testHome.status('quiet')).toMatchObject({ phase: 'running' })
  })
})

describe('while an error has made the disk of the state folder read-only', () => {
  it('stop, hold and killall end the processes and say that they are not recorded', async ({ skip }) => {
    const disk = await FailingDisk.under(testHome)
    if (typeof disk === 'string') return skip(disk)
    const { pid } = await testHome.run('--name', 'stopped', '--headless', '--', 'sleep', '1000')
    const held = await testHome.run('--name', 'held', '--tty', '--', 'sleep', '1000')
    const last = await testHome.run('--name', 'last', '--headless', '--', 'sleep', '1000')
    const supervisor = await testHome.daemon()
    disk.fail()
    const refused = { exit: 1, code: 'home-unusable', hint: 'make it writable' } as const
    const says = `${testHome.home.root} cannot be written`
    await expectRefusal(testHome, ['run', '--headless', '--', 'true'], { ...refused, says })
    const unrecorded = { ...refused, says: 'have ended, but the state folder' }
    await expectRefusal(testHome, ['stop', 'stopped'], unrecorded)
    await expectRefusal(testHome, ['hold', 'held'], unrecorded)
    expect([pid, held.pid, last.pid].map(one => isAlive(one as number))).toEqual([false, false, true])
    expect((await testHome.daemon()).pid).toBe(supervisor.pid)
    await killSupervisor()
    await expectRefusal(testHome, ['run', '--headless', '--', 'true'], { ...refused, says })
    await expectRefusal(testHome, ['killall', '--yes'], unrecorded)
    expect(isAlive(last.pid as number)).toBe(false)
    expect(await testHome.list()).toHaveLength(3)
    await disk.repair()
    await testHome.ok('killall', '--yes')
    await testHome.ok('run', '--name', 'after', '--headless', '--', 'true')
    expect(await testHome.ended('after')).toMatchObject({ outcome: 'done' })
  })
})

/** An ext4 image that becomes read-only on an error, as a failing disk does. */
class FailingDisk {
  readonly #folder: string
  readonly #image: string
  readonly #trigger: string

  private constructor(testHome: TestHome, image: string, trigger: string) {
    this.#folder = testHome.home.root
    this.#image = image
    this.#trigger = trigger
  }

  /** Returns why the system permits no such disk. */
  static async under(testHome: TestHome): Promise<FailingDisk | string> {
    if (process.getuid?.() !== 0) return 'only root can make disks'
    const folder = testHome.home.root
    const image = path.join(testHome.root, 'image')
    fs.mkdirSync(folder, { mode: 0o700 })
    fs.writeFileSync(image, '')
    fs.truncateSync(image, 64 * 1_048_576)
    const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` }
    if ((await run('mkfs.ext4', ['-q', image], { env })).code !== 0) return 'mkfs.ext4 is not installed'
    if ((await run('mount', ['-o', 'loop,errors=remount-ro', image, folder])).code !== 0) return NO_MOUNT
    testHome.defer(() => waitUntil('the disk is taken away', () => unmount(folder)))
    const { stdout } = await run('findmnt', ['-n', '-o', 'SOURCE', folder])
    const trigger = `/sys/fs/ext4/${path.basename(stdout.trim())}/trigger_fs_error`
    if (!fs.existsSync(trigger)) return 'the kernel offers no file system errors for tests'
    fs.rmdirSync(path.join(folder, 'lost+found'))
    fs.chmodSync(folder, 0o700)
    return new FailingDisk(testHome, image, trigger)
  }

  fail(): void {
    fs.writeFileSync(this.#trigger, '1')
  }

  /** Ends all processes that use the disk, as a reboot does, and repairs it. */
  async repair(): Promise<void> {
    const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` }
    await waitUntil('the disk is unmounted', async () => {
      // -M names no process unless the folder is a mount point.
      const pids = (await run('fuser', ['-M', '-m', this.#folder])).stdout.match(/\d+/g) ?? []
      for (const pid of pids.map(Number)) if (pid !== process.pid) kill(pid)
      return unmount(this.#folder)
    })
    await waitUntil('the kernel has released the image', async () => {
      return (await run('losetup', ['-j', this.#image], { env })).stdout.trim() === '' ? true : undefined
    })
    const { code } = await run('e2fsck', ['-fy', this.#image], { env })
    expect(code, 'e2fsck: 0 is clean, 1 is repaired').toBeLessThanOrEqual(1)
    expect((await run('mount', ['-o', 'loop', this.#image, this.#folder])).code, 'mount').toBe(0)
  }
}

async function unmount(folder: string): Promise<true | undefined> {
  return (await run('umount', [folder])).code === 0 ? true : undefined
}

describe('on a full disk, when the clock is set', () => {
  const hours = 3_600_000
  it.for([
    ['an hour forward', hours],
    ['a day back', -24 * hours],
    ['to 1970', -Date.now() + hours],
  ] as const)('%s, sessions keep running, and stop and hold succeed at once', async ([, shift], { skip }) => {
    const clock = new ShiftedClock(testHome.root, REPOSITORY)
    if (clock.obstacle !== null) return skip(clock.obstacle)
    const disk = await SmallDisk.under(testHome, 32)
    if (disk === undefined) return skip(NO_MOUNT)
    Object.assign(testHome.env, clock.preload(path.join(testHome.root, 'witness')))
    await fill(disk)
    clock.shift(shift)
    const begun = performance.now()
    await testHome.ok('hold', 'quiet')
    await testHome.ok('stop', 'greedy')
    expect(performance.now() - begun).toBeLessThan(30_000)
    expect(await testHome.status('quiet')).toMatchObject({ phase: 'blocked', reason: 'held by you' })
    expect(await testHome.status('greedy')).toMatchObject({ phase: 'ended', outcome: 'stopped' })
    clock.shift(0)
    await testHome.ok('clean', 'greedy', '--yes')
    await testHome.ok('resume', 'quiet')
    expect(await testHome.status('quiet')).toMatchObject({ phase: expect.stringMatching(/starting|running/) })
  })
})
