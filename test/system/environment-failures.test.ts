import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SessionView } from '../../src/api/contract/responses.ts'
import { truncateAndWrite } from '../../src/os/files/file-io.ts'
import { attemptFolder } from '../../src/state/session-folder.ts'
import { homeAt } from '../../src/state/home.ts'
import { run } from '../../src/os/run.ts'
import { readClaim, readExit, readStarted } from '../../src/state/shim-records.ts'
import { openDatabase } from '../../src/os/sqlite.ts'
import { renderEnterFile, renderLaunchFile } from '../../src/world/runtime/prepare-attempt.ts'
import { testSessionId } from '../../testkit/core/ids.ts'
import { LAUNCH_DEFAULTS } from '../contracts/launch-defaults.ts'
import { forCases } from '../../testkit/vitest/for-cases.ts'
import { binFolder } from './bin-folder.ts'
import { expectRefusal } from './expect-refusal.ts'
import { isAlive, ProcessHome, type TestHome, waitUntil } from './test-home.ts'
import { SmallDisk } from './small-disk.ts'

let testHome: TestHome
beforeEach(() => {
  testHome = new ProcessHome()
})
afterEach(() => testHome.close())

const SHIM = path.resolve(import.meta.dirname, '../../src/shim/shim.sh')
const TRUE = ['run', '--headless', '--', 'true']
const NO_MOUNT = 'disks cannot be mounted here: it takes root, and a container that allows it'

/** Runs until a file appears, then exits with 5. */
const WAITER = 'until [ -e go ]; do sleep 0.02; done; echo went; exit 5'
const go = (): void => fs.writeFileSync(testHome.path('go'), '')

describe('oneshot run', () => {
  const install = 'apt-get install tmux'

  it('reports that tmux is missing, tells how to install it, and starts no session', async () => {
    const env = { PATH: binFolder(testHome) }
    const says = 'tmux is not installed, or not on the supervisor’s PATH'
    await expectRefusal(testHome, TRUE, { exit: 1, code: 'tmux-missing', says, hint: install }, { env })
    expect(await testHome.list()).toEqual([])
  })

  it('refuses a tmux older than 3.2 and names its version', async () => {
    const env = { PATH: binFolder(testHome, { scripts: { tmux: 'echo "tmux 3.1c"' } }) }
    const says = 'tmux is too old: tmux 3.1c found, 3.2 or newer needed'
    await expectRefusal(testHome, TRUE, { exit: 1, code: 'tmux-too-old', says, hint: 'update ' }, { env })
  })

  it('finds a tmux that was installed later, without a restart of the supervisor', async () => {
    const bin = binFolder(testHome)
    const env = { PATH: bin }
    expect((await testHome.call(TRUE, { env })).code).toBe(1)
    fs.writeFileSync(path.join(bin, 'tmux'), `#!/bin/sh\nPATH=${process.env['PATH']} exec tmux "$@"\n`, { mode: 0o755 })
    expect(await testHome.call(TRUE, { env })).toEqual({ code: 0, signal: null, stdout: 'command-true\n', stderr: '' })
  })
})

describe('state folder:', () => {
  it('commands refuse a state folder that is a file or a path below a file', async () => {
    fs.writeFileSync(testHome.home.root, '')
    for (const home of [testHome.home.root, path.join(testHome.home.root, 'below')]) {
      const refused = {
        exit: 1,
        code: 'home-unusable',
        says: `${home} is not a folder`,
        hint: 'set ONESHOT_HOME',
      } as const
      await expectRefusal(testHome, TRUE, refused, { env: { ONESHOT_HOME: home } })
      await expectRefusal(testHome, ['list'], refused, { env: { ONESHOT_HOME: home } })
    }
    fs.rmSync(testHome.home.root)
  })

  it('commands refuse a state folder whose path is too long for a unix socket', async () => {
    const home = path.join(testHome.root, 'x'.repeat(90))
    const says = 'path is too long for a unix socket'
    const refused = { exit: 2, code: 'home-too-long', says, hint: 'set ONESHOT_HOME to a shorter path' } as const
    await expectRefusal(testHome, TRUE, refused, { env: { ONESHOT_HOME: home } })
    await expectRefusal(testHome, ['list'], refused, { env: { ONESHOT_HOME: home } })
    expect(fs.existsSync(home)).toBe(false)
  })

  it('sessions, also on a terminal, run in a state folder with the longest path allowed', {
    tags: ['extended'],
  }, async () => {
    const spare = 103 - Buffer.byteLength('/tty/xxxxxxxxxx.sock')
    const longest = homeAt(path.join(testHome.root, 'x'.repeat(spare - testHome.root.length - 1)))
    const long = new ProcessHome({ ONESHOT_HOME: longest.root })
    try {
      expect(await long.run('--name', 'tty', '--tty', '--', 'sleep', '1000')).toMatchObject({ phase: 'running' })
      const over = { ONESHOT_HOME: `${longest.root}x` }
      expect((await long.call(['list'], { env: over })).code).toBe(2)
      await long.ok('killall', '--yes')
      await long.ok('daemon', 'stop')
    } finally {
      await long.close()
    }
  })

  it('sessions run, and a shim restarts the supervisor, in a state folder with quotes and shell syntax in its name', {
    tags: ['extended'],
  }, async () => {
    const awkward = homeAt(path.join(testHome.root, `it's #{pid} %H $(touch pwned) "h"`))
    const other = new ProcessHome({ ONESHOT_HOME: awkward.root })
    try {
      await other.run('--name', 'tty', '--tty', '--', 'sh', '-c', 'echo hello; exit 4')
      expect((await other.oneshot('wait', 'tty')).code).toBe(4)
      expect(await other.ok('log', 'tty')).toBe('hello')
      await other.run('--name', 'waiter', '--headless', '--', 'sh', '-c', WAITER)
      const { pid } = await other.daemon()
      process.kill(Number(fs.readFileSync(awkward.keeperPid, 'utf8')), 'SIGKILL')
      process.kill(pid, 'SIGKILL')
      fs.writeFileSync(other.path('go'), '')
      expect(await other.ended('waiter')).toMatchObject({ outcome: 'failed', exitCode: 5 })
      const made = fs.readdirSync(testHome.root, { recursive: true, encoding: 'utf8' })
      expect(made.filter(name => path.basename(name) === 'pwned')).toEqual([])
      await other.ok('daemon', 'stop')
    } finally {
      await other.close()
    }
  })

  it('commands, also those that only read, refuse a state folder of another user', async ({ skip }) => {
    skip(process.getuid?.() !== 0, 'only root can give a folder away')
    fs.mkdirSync(testHome.home.root, { mode: 0o700 })
    fs.chownSync(testHome.home.root, 12_345, 12_345)
    const says = `${testHome.home.root} belongs to another user (uid 12345, you are 0)`
    const refused = { exit: 1, code: 'home-unsafe', says, hint: 'set ONESHOT_HOME to a folder of your own' } as const
    await expectRefusal(testHome, TRUE, refused)
    await expectRefusal(testHome, ['list'], refused)
    expect(fs.readdirSync(testHome.home.root)).toEqual([])
  })

  it('commands refuse a state folder that other users can read, until chmod closes it', async () => {
    fs.mkdirSync(testHome.home.sessions, { recursive: true })
    fs.chmodSync(testHome.home.root, 0o755)
    const says = `${testHome.home.root} is open to other users (mode 0755)`
    const refused = { exit: 1, code: 'home-unsafe', says, hint: `chmod 700 ${testHome.home.root}` } as const
    await expectRefusal(testHome, TRUE, refused)
    await expectRefusal(testHome, ['status', 'x'], refused)
    fs.chmodSync(testHome.home.root, 0o700)
    expect(await testHome.ok(...TRUE)).toBe('command-true')
  })

  it('oneshot run closes an empty state folder to other users', async () => {
    fs.mkdirSync(testHome.home.root, { mode: 0o755 })
    expect(await testHome.ok(...TRUE)).toBe('command-true')
    expect(fs.statSync(testHome.home.root).mode & 0o777).toBe(0o700)
  })

  it('oneshot keeps all files in the state folder closed to other users', async () => {
    await testHome.ok('run', '--name', 'tty', '--tty', '--', 'sleep', '1000')
    await testHome.ok('run', '--agent', 'demo', 'secret steps=1')
    await testHome.ended('secret')
    const open = fs.readdirSync(testHome.home.root, { recursive: true, encoding: 'utf8' }).filter(name => {
      const stat = fs.lstatSync(path.join(testHome.home.root, name))
      return !stat.isSymbolicLink() && (stat.mode & 0o077) !== 0
    })
    expect(open).toEqual([])
  })
})

describe('disk of the state folder:', () => {
  const full = {
    exit: 1,
    code: 'disk-full',
    says: 'no space left for the state folder',
    hint: 'free some space',
  } as const

  it('oneshot run reports a read-only disk; list and log still work', async ({ skip }) => {
    const disk = await SmallDisk.under(testHome)
    if (disk === undefined) return skip(NO_MOUNT)
    await testHome.ok('run', '--name', 'before', '--headless', '--', 'echo', 'hello')
    await testHome.ended('before')
    await testHome.ok('daemon', 'stop')
    await disk.makeReadOnly()
    const says = `the state folder ${testHome.home.root} cannot be written`
    const refused = { exit: 1, code: 'home-unusable', says, hint: 'make it writable' } as const
    await expectRefusal(testHome, TRUE, refused)
    expect(await testHome.list()).toMatchObject([{ name: 'command-before', outcome: 'done' }])
    expect(await testHome.ok('log', 'before')).toBe('hello')
    await disk.makeWritable()
    expect(await testHome.ok(...TRUE)).toBe('command-true')
  })

  it('oneshot run reports a full disk at once; the next run works after space is freed', async ({ skip }) => {
    const disk = await SmallDisk.under(testHome)
    if (disk === undefined) return skip(NO_MOUNT)
    disk.fill()
    await expectRefusal(testHome, TRUE, full)
    expect(await testHome.list()).toEqual([])
    disk.free()
    expect(await testHome.ok(...TRUE)).toBe('command-true')
    expect(await testHome.ended('true')).toMatchObject({ outcome: 'done' })
  })

  it('a transcript write that fails on a full disk leaves no partial text, and can be repeated', async ({ skip }) => {
    const disk = await SmallDisk.under(testHome)
    if (disk === undefined) return skip(NO_MOUNT)
    const transcript = path.join(testHome.home.root, 'transcript')
    const length = truncateAndWrite(transcript, 0, 'before\n')
    disk.fill()
    expect(() => truncateAndWrite(transcript, length, 'x'.repeat(10_000))).toThrow('ENOSPC')
    disk.free()
    expect(truncateAndWrite(transcript, length, 'after\n')).toBe(length + 6)
    expect(fs.readFileSync(transcript, 'utf8')).toBe('before\nafter\n')
  })

  it('the launch file waits while the disk is full and starts the program only after it recorded the start', async ({
    skip,
  }) => {
    const disk = await SmallDisk.under(testHome)
    if (disk === undefined) return skip(NO_MOUNT)
    const folder = attemptFolder(testHome.home, testSessionId('id'), 1)
    fs.mkdirSync(folder.root, { recursive: true })
    const argv = ['/bin/sh', '-c', 'touch begun']
    const order = {
      ...LAUNCH_DEFAULTS,
      sessionId: testSessionId('id'),
      name: 'n',
      mode: 'headless',
      argv,
      cwd: testHome.project,
    } as const
    const letter = path.join(testHome.home.root, 'letter')
    fs.writeFileSync(folder.enter, renderEnterFile(order.argv, {}))
    fs.writeFileSync(testHome.path('launch'), renderLaunchFile(order, { folder, letter }))
    disk.fill()
    const launched = run('sh', [testHome.path('launch')])
    await waitUntil('it has tried', () => (fs.existsSync(folder.started) ? true : undefined))
    expect({ started: readStarted(folder), begun: fs.existsSync(testHome.path('begun')) }).toEqual({
      started: null,
      begun: false,
    })
    disk.free()
    expect(await launched).toMatchObject({ code: 0, stderr: '' })
    expect(readStarted(folder)).not.toBeNull()
    expect(fs.existsSync(testHome.path('begun'))).toBe(true)
  })

  it('a shim waits while the disk is full and starts the attempt after it recorded its claim', {
    tags: ['extended'],
  }, async ({ skip }) => {
    const disk = await SmallDisk.under(testHome)
    if (disk === undefined) return skip(NO_MOUNT)
    const folder = attemptFolder(testHome.home, testSessionId('id'), 1)
    for (const place of [folder.root, testHome.home.mailbox]) fs.mkdirSync(place, { recursive: true })
    fs.writeFileSync(folder.launch, `touch '${testHome.path('begun')}'`)
    disk.fill()
    const shim = spawn('sh', [SHIM, testHome.home.root, 'id', '1', 'headless', 'tmux', ''], { stdio: 'ignore' })
    await waitUntil('it has tried', () => (fs.existsSync(folder.claim) ? true : undefined))
    expect({ claim: readClaim(folder), begun: fs.existsSync(testHome.path('begun')) }).toEqual({
      claim: null,
      begun: false,
    })
    disk.free()
    await waitUntil('it has begun', () => (fs.existsSync(testHome.path('begun')) ? true : undefined))
    expect(readClaim(folder)?.pid).toBe(shim.pid)
    await waitUntil('it has concluded', () => readExit(folder) ?? undefined)
    shim.kill('SIGTERM')
    await once(shim, 'exit')
  })

  it('running sessions survive a disk that fills up, and the supervisor loses no exit code', async ({ skip }) => {
    const disk = await SmallDisk.under(testHome)
    if (disk === undefined) return skip(NO_MOUNT)
    const lasting = await testHome.run('--name', 'lasting', '--headless', '--', 'sleep', '1000')
    const waiter = await testHome.run(
      '--name',
      'waiter',
      '--headless',
      '--',
      'sh',
      '-c',
      'until [ -e go ]; do sleep 0.02; done; exit 5',
    )
    const supervisor = await testHome.daemon()
    disk.fill()
    fillLastPage(testHome.home.daemonLog)

    await expectRefusal(testHome, TRUE, full)
    go()
    await waitUntil('it has ended', () => (isAlive(waiter.pid as number) ? undefined : true))
    await waitUntil('its exit code is known', async () => (await testHome.status('waiter')).exitCode === 5 || undefined)
    expect(await testHome.status('waiter')).toMatchObject({ pid: null })
    expect(await testHome.status('lasting')).toMatchObject({ phase: 'running', pid: lasting.pid })

    disk.free()
    expect(await testHome.ended('waiter')).toMatchObject({ outcome: 'failed', exitCode: 5, reason: 'exit code 5' })
    expect(await testHome.status('lasting')).toMatchObject({ phase: 'running', pid: lasting.pid })
    expect(await testHome.daemon()).toMatchObject({ pid: supervisor.pid, epoch: supervisor.epoch })
    await testHome.ok('stop', 'lasting')
  })
})

/** The part of a file's last block that is not used yet would still take a few lines on a full disk. */
function fillLastPage(file: string): void {
  const { size, blksize } = fs.statSync(file)
  fs.appendFileSync(file, '\n'.repeat((blksize - (size % blksize)) % blksize))
}

describe('the supervisor', () => {
  const damage: Record<string, (file: string) => void> = {
    'a database full of garbage': file => fs.writeFileSync(file, Buffer.alloc(20_000, 'garbage ')),
    'a database damaged in the middle': file => fs.writeFileSync(file, fs.readFileSync(file).fill(0xaa, 4096)),
    'a database cut to nothing': file => fs.truncateSync(file),
    'a database that was removed': file => fs.rmSync(file),
  }

  forCases(Object.keys(damage), 2, 'rebuilds %s while sessions run', async what => {
    await testHome.ok('run', '--name', 'past', '--headless', '--', 'sh', '-c', 'exit 3')
    await testHome.ended('past')
    const headless = await testHome.run('--name', 'headless', '--headless', '--', 'sh', '-c', WAITER)
    const tty = await testHome.run('--name', 'tty', '--tty', '--', 'sh', '-c', WAITER)
    await testHome.ok('daemon', 'stop')
    intoOneFile(testHome.home.database)
    damage[what]?.(testHome.home.database)

    const before = (await testHome.list()).map(facts)
    expect(before).toMatchObject([
      { name: 'command-tty', phase: 'running', pid: tty.pid },
      { name: 'command-headless', phase: 'running', pid: headless.pid },
      { name: 'command-past', outcome: 'failed', exitCode: 3 },
    ])
    await testHome.ok('daemon', 'start')
    expect((await testHome.list()).map(facts)).toEqual(before)
    const aside = fs.readdirSync(testHome.home.root).filter(name => /^oneshot\.db\.corrupt-[-\dT.]+Z$/.test(name))
    expect(aside).toHaveLength(/garbage|middle/.test(what) ? 1 : 0)

    go()
    for (const name of ['headless', 'tty']) {
      expect(await testHome.ended(name)).toMatchObject({ outcome: 'failed', exitCode: 5 })
      expect(await testHome.ok('log', name)).toBe('went')
    }
  })
})

/** Without the journal beside it, so that no good copy of a page is left. */
function intoOneFile(file: string): void {
  const database = openDatabase(file)
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
  for (const suffix of ['-wal', '-shm']) fs.rmSync(file + suffix, { force: true })
}

function facts({ name, id, phase, outcome, pid, exitCode }: SessionView): Partial<SessionView> {
  return { name, id, phase, outcome, pid, exitCode }
}
