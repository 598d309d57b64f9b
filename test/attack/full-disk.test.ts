import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { expectRefusal } from '../system/expect-refusal.ts'
import { isAlive, kill, ProcessHome, type TestHome, waitUntil } from '../system/test-home.ts'
import { SmallDisk } from '../system/small-disk.ts'
import { attackSize } from './attack-size.ts'

const NO_MOUNT = 'disks cannot be made here'
/** Writes for as long as there is room, and takes whatever becomes free. */
const GREEDY = ['--', 'sh', '-c', 'while :; do cat /dev/zero; sleep 0.01; done']

let testHome: TestHome
beforeEach(() => {
  testHome = new ProcessHome()
})
afterEach(() => testHome.close())

/** A disk on which one session has taken all the room, while another does nothing. */
async function fullDisk(): Promise<SmallDisk | undefined> {
  const disk = await SmallDisk.under(testHome, attackSize(32, 512))
  return disk && fill(disk)
}

async function fill(disk: SmallDisk): Promise<SmallDisk> {
  await testHome.ok('run', '--name', 'quiet', '--headless', '--', 'sleep', '1000')
  await waitUntil('the supervisor has its reserve', () => fs.existsSync(reserve()) || undefined)
  await testHome.ok('run', '--name', 'greedy', '--headless', ...GREEDY)
  await waitUntil('the disk is full', () => disk.room === 0 || undefined)
  return disk
}

const reserve = (): string => path.join(testHome.home.root, 'reserve')

/** Somebody else may have been faster. */
function useUpReserve(): void {
  for (const name of fs.readdirSync(testHome.home.root).filter(name => name.startsWith('reserve')))
    fs.rmSync(path.join(testHome.home.root, name), { force: true })
}

async function killSupervisor(): Promise<void> {
  const { pid } = await testHome.daemon()
  kill(Number(fs.readFileSync(testHome.home.keeperPid, 'latin1')))
  kill(pid)
  await waitUntil('the supervisor is gone', () => !isAlive(pid) || undefined)
}

describe('on a disk that a session fills', () => {
  it('oneshot stops, holds and cleans sessions, and the supervisor keeps running', async ({ skip }) => {
    const disk = await fullDisk()
    if (disk === undefined) return skip(NO_MOUNT)
    const { pid } = await testHome.daemon()
    const { pid: greedy } = await testHome.status('greedy')
    await testHome.ok('stop', 'greedy')
    expect(isAlive(greedy ?? 0)).toBe(false)
    expect(await testHome.status('greedy')).toMatchObject({ phase: 'ended', outcome: 'stopped' })
    await testHome.ok('hold', 'quiet')
    expect(await testHome.status('quiet')).toMatchObject({ phase: 'blocked', pid: null })
    await testHome.ok('killall', '--yes')
    expect(await testHome.status('quiet')).toMatchObject({ phase: 'ended', outcome: 'stopped' })
    await testHome.ok('clean', 'greedy', '--yes')
    expect(disk.room).toBeGreaterThan(8 * 1_048_576)
    expect((await testHome.daemon()).pid).toBe(pid)
    await testHome.ok('run', '--name', 'after', '--headless', '--', 'true')
    expect(await testHome.ended('after')).toMatchObject({ outcome: 'done' })
  })

  it.for([
    ['a program that ends with the first failed write', ['--', 'sh', '-c', 'yes 0123456789']],
    ['a program that takes all space that becomes free', GREEDY],
  ] as const)(
    'stop and clean succeed when the first session has filled it at once: %s',
    async ([, program], { skip }) => {
      const disk = await SmallDisk.under(testHome, 12)
      if (disk === undefined) return skip(NO_MOUNT)
      await testHome.oneshot('run', '--name', 'first', '--headless', ...program)
      await waitUntil('the disk is full', () => disk.room < 262_144 || undefined)
      await testHome.ok('stop', 'first')
      expect(await testHome.status('first')).toMatchObject({ phase: 'ended', pid: null })
      await testHome.ok('clean', 'first', '--yes')
      expect(disk.room).toBeGreaterThan(6 * 1_048_576)
    },
  )

  it.for([
    ['stop', ['stop', 'greedy'], { phase: 'ended', outcome: 'stopped' }],
    ['hold', ['hold', 'greedy'], { phase: 'blocked', reason: 'held by you' }],
    ['killall', ['killall', '--yes'], { phase: 'ended', outcome: 'stopped' }],
  ] as const)('%s succeeds on a disk that had too little space for a reserve', async ([, deed, recorded], { skip }) => {
    const disk = await SmallDisk.under(testHome, 2)
    if (disk === undefined) return skip(NO_MOUNT)
    disk.fillExcept(800_000)
    await testHome.ok('run', '--name', 'quiet', '--headless', '--', 'sleep', '1000')
    await testHome.ok('run', '--name', 'greedy', '--headless', ...GREEDY)
    await waitUntil('the disk is full', () => disk.room === 0 || undefined)
    useUpReserve()
    await waitUntil('the disk is full again', () => disk.room === 0 || undefined)
    const { pid } = await testHome.status('greedy')
    await testHome.ok(...deed)
    expect(isAlive(pid ?? 0)).toBe(false)
    expect(await testHome.status('greedy')).toMatchObject(recorded)
    await testHome.ok('killall', '--yes')
    await testHome.ok('clean', '--yes')
    expect(await testHome.list()).toEqual([])
  })

  it('daemon restart leaves the supervisor alone when a new one would lack the space to start', async ({ skip }) => {
    const disk = await fullDisk()
    if (disk === undefined) return skip(NO_MOUNT)
    const { pid } = await testHome.daemon()
    useUpReserve()
    await waitUntil('the disk is full again', () => disk.room === 0 || undefined)
    await expectRefusal(testHome, ['daemon', 'restart'], {
      exit: 1,
      code: 'disk-full',
      says: 'the old one',
      hint: 'oneshot stop',
    })
    expect((await testHome.daemon()).pid).toBe(pid)
    await testHome.ok('stop', 'greedy')
  })

  it('stop succeeds after the user has stopped the supervisor and the reserve was used up', async ({ skip }) => {
    const disk = await fullDisk()
    if (disk === undefined) return skip(NO_MOUNT)
    await testHome.ok('daemon', 'stop')
    useUpReserve()
    await waitUntil('the disk is full again', () => disk.room === 0 || undefined)
    await testHome.ok('stop', 'greedy')
    expect(await testHome.status('greedy')).toMatchObject({ phase: 'ended', outcome: 'stopped' })
  })

  it('oneshot stops a session with --max-output before it takes the room of others', { tags: ['extended'] }, async ({
    skip,
  }) => {
    const disk = await SmallDisk.under(testHome, 64)
    if (disk === undefined) return skip(NO_MOUNT)
    const slow = 'while :; do head -c 100000 /dev/zero; sleep 0.02; done'
    await testHome.ok('run', '--name', 'chatty', '--headless', '--max-output', '4M', '--', 'sh', '-c', slow)
    const view = await testHome.ended('chatty')
    expect(view).toMatchObject({ outcome: 'stopped', trouble: 'output' })
    expect(view.reason).toMatch(/^the output limit of 4 MB was reached/)
    expect(disk.room).toBeGreaterThan(16 * 1_048_576)
    expect(await testHome.ok('events', 'chatty')).toContain('oneshot ends its processes')
  })

  it('killall stops every session, even when the reserve is used up', { tags: ['extended'] }, async ({ skip }) => {
    const disk = await fullDisk()
    if (disk === undefined) return skip(NO_MOUNT)
    useUpReserve()
    await waitUntil('the disk is full again', () => disk.room === 0 || undefined)
    await testHome.ok('killall', '--yes')
    const outcomes = (await testHome.list()).map(({ outcome }) => outcome)
    expect(outcomes).toEqual(['stopped', 'stopped'])
    await testHome.ok('clean', '--yes')
    expect(await testHome.list()).toEqual([])
  })

  it('a stopped program leaves its exit record, even when the reserve is used up', {
    tags: ['extended'],
  }, async ({ skip }) => {
    const disk = await fullDisk()
    if (disk === undefined) return skip(NO_MOUNT)
    useUpReserve()
    await waitUntil('the disk is full again', () => disk.room === 0 || undefined)
    await testHome.ok('stop', 'greedy')
    expect(await testHome.status('greedy')).toMatchObject({ outcome: 'stopped', signal: 'SIGINT' })
    expect(await testHome.ok('events', 'greedy')).not.toContain('it is terminated')
  })

  it.for([
    ['stop', { phase: 'ended', outcome: 'stopped', exitCode: 143, trouble: 'stopped' }],
    ['hold', { phase: 'blocked', reason: 'held by you' }],
  ] as const)(
    'the supervisor records a %s that the user asked for while no supervisor ran',
    async ([deed, recorded], { skip }) => {
      const disk = await fullDisk()
      if (disk === undefined) return skip(NO_MOUNT)
      await killSupervisor()
      useUpReserve()
      await waitUntil('the disk is full again', () => disk.room === 0 || undefined)
      await testHome.ok(deed, 'greedy')
      expect(await testHome.status('greedy')).toMatchObject(recorded)
      await testHome.ok('killall', '--yes')
      await testHome.ok('clean', '--yes')
    },
  )

  const endings = ['stop', 'hold', 'killall'] as const
  describe.each(endings.slice(0, attackSize(1, endings.length)))('until it has no room for more files', deed => {
    it(`${deed} ends the program of a session, and clean removes the session afterwards`, async ({ skip }) => {
      const disk = await SmallDisk.under(testHome, 64, attackSize(800, 8_000))
      if (disk === undefined) return skip(NO_MOUNT)
      await testHome.ok('run', '--name', 'quiet', '--headless', '--', 'sleep', '1000')
      await waitUntil('the supervisor has its reserve', () => fs.existsSync(reserve()) || undefined)
      const files = path.join(testHome.home.root, 'litter')
      fs.mkdirSync(files)
      const greedy = `cd '${files}'; n=0; while :; do n=$((n+1)); printf "" >$n || sleep 0.01; done 2>/dev/null`
      await testHome.ok('run', '--name', 'greedy', '--headless', '--', 'sh', '-c', greedy)
      await waitUntil('the disk is full', () => disk.freeFiles === 0 || undefined)
      const { pid } = await testHome.daemon()
      const { pid: life } = await testHome.status('greedy')
      if (deed === 'killall') await testHome.ok('killall', '--yes')
      else await testHome.ok(deed, 'greedy')
      expect(isAlive(life ?? 0)).toBe(false)
      await testHome.ok('killall', '--yes')
      await testHome.ok('clean', '--yes')
      expect(await testHome.list()).toEqual([])
      expect((await testHome.daemon()).pid).toBe(pid)
    })
  })

  it('stop ends a session whose supervisor was killed', { tags: ['extended'] }, async ({ skip }) => {
    const disk = await fullDisk()
    if (disk === undefined) return skip(NO_MOUNT)
    await killSupervisor()
    await testHome.ok('stop', 'greedy')
    expect(await testHome.status('greedy')).toMatchObject({ phase: 'ended', outcome: 'stopped' })
  })

  const deeds: [string, string[]][] = [
    ['hold', ['hold', 'greedy']],
    ['clean', ['clean', 'old', '--yes']],
    ['killall', ['killall', '--yes']],
    ['stop', ['stop', 'greedy']],
    ['stop of another session', ['stop', 'quiet']],
    ['hold of another session', ['hold', 'quiet']],
  ]
  it.for(deeds.slice(0, attackSize(1, deeds.length)))(
    '%s succeeds after the supervisor was killed and the reserve was used up',
    { tags: ['extended'] },
    async ([, deed], { skip }) => {
      const disk = await SmallDisk.under(testHome, attackSize(32, 512))
      if (disk === undefined) return skip(NO_MOUNT)
      await testHome.ok('run', '--name', 'old', '--headless', '--', 'true')
      await testHome.ended('old')
      await fill(disk)
      await killSupervisor()
      useUpReserve()
      await waitUntil('the disk is full again', () => disk.room === 0 || undefined)
      await testHome.ok(...deed)
      await testHome.ok('killall', '--yes')
      await testHome.ok('clean', '--yes')
      expect(await testHome.list()).toEqual([])
    },
  )
})
