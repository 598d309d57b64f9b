import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { House, isAlive, kill, until } from '../system/house.ts'
import { SmallDisk } from '../system/small-disk.ts'
import { strength } from './strength.ts'

const NO_MOUNT = 'disks cannot be made here'
/** Writes for as long as there is room, and takes whatever becomes free. */
const GREEDY = ['--', 'sh', '-c', 'while :; do cat /dev/zero; sleep 0.01; done']

let house: House
beforeEach(() => {
  house = new House()
})
afterEach(() => house.close())

/** A disk on which one session has taken all the room, while another does nothing. */
async function fullDisk(): Promise<SmallDisk | undefined> {
  const disk = await SmallDisk.under(house, strength(32, 512))
  return disk && fill(disk)
}

async function fill(disk: SmallDisk): Promise<SmallDisk> {
  await house.ok('run', '--name', 'quiet', '--headless', '--', 'sleep', '1000')
  await until('the supervisor has its reserve', () => fs.existsSync(reserve()) || undefined)
  await house.ok('run', '--name', 'greedy', '--headless', ...GREEDY)
  await until('the disk is full', () => disk.room === 0 || undefined)
  return disk
}

const reserve = (): string => path.join(house.home.root, 'reserve')

/** Somebody else may have been faster. */
function useUpReserve(): void {
  for (const name of fs.readdirSync(house.home.root).filter(name => name.startsWith('reserve')))
    fs.rmSync(path.join(house.home.root, name), { force: true })
}

async function killSupervisor(): Promise<void> {
  const { pid } = await house.daemon()
  kill(Number(fs.readFileSync(house.home.keeperPid, 'latin1')))
  kill(pid)
  await until('the supervisor is gone', () => !isAlive(pid) || undefined)
}

describe('on a disk that a session fills', () => {
  it('sessions are stopped, held and cleaned, and the supervisor stays', async ({ skip }) => {
    const disk = await fullDisk()
    if (disk === undefined) return skip(NO_MOUNT)
    const { pid } = await house.daemon()
    const { pid: greedy } = await house.status('greedy')
    await house.ok('stop', 'greedy')
    expect(isAlive(greedy ?? 0)).toBe(false)
    expect(await house.status('greedy')).toMatchObject({ phase: 'ended', outcome: 'stopped' })
    await house.ok('hold', 'quiet')
    expect(await house.status('quiet')).toMatchObject({ phase: 'blocked', pid: null })
    await house.ok('killall', '--yes')
    expect(await house.status('quiet')).toMatchObject({ phase: 'ended', outcome: 'stopped' })
    await house.ok('clean', 'greedy', '--yes')
    expect(disk.room).toBeGreaterThan(8 * 1_048_576)
    expect((await house.daemon()).pid).toBe(pid)
    await house.ok('run', '--name', 'after', '--headless', '--', 'true')
    expect(await house.ended('after')).toMatchObject({ outcome: 'done' })
  })

  it('a session with --max-output is stopped before it takes the room of others', async ({ skip }) => {
    const disk = await SmallDisk.under(house, 64)
    if (disk === undefined) return skip(NO_MOUNT)
    const slow = 'while :; do head -c 100000 /dev/zero; sleep 0.02; done'
    await house.ok('run', '--name', 'chatty', '--headless', '--max-output', '4M', '--', 'sh', '-c', slow)
    const view = await house.ended('chatty')
    expect(view).toMatchObject({ outcome: 'stopped', trouble: 'output' })
    expect(view.reason).toMatch(/^the output limit of 4 MB was reached/)
    expect(disk.room).toBeGreaterThan(16 * 1_048_576)
    expect(await house.ok('events', 'chatty')).toContain('oneshot ends its processes')
  })

  it('killall stops everything, also when the reserve is used up', async ({ skip }) => {
    const disk = await fullDisk()
    if (disk === undefined) return skip(NO_MOUNT)
    useUpReserve()
    await until('the disk is full again', () => disk.room === 0 || undefined)
    await house.ok('killall', '--yes')
    const outcomes = (await house.list()).map(({ outcome }) => outcome)
    expect(outcomes).toEqual(['stopped', 'stopped'])
    await house.ok('clean', '--yes')
    expect(await house.list()).toEqual([])
  })

  it('a program that is stopped leaves its exit record, also when the reserve is used up', async ({ skip }) => {
    const disk = await fullDisk()
    if (disk === undefined) return skip(NO_MOUNT)
    useUpReserve()
    await until('the disk is full again', () => disk.room === 0 || undefined)
    await house.ok('stop', 'greedy')
    expect(await house.status('greedy')).toMatchObject({ outcome: 'stopped', signal: 'SIGINT' })
    expect(await house.ok('events', 'greedy')).not.toContain('it is terminated')
  })

  it.for([
    ['stop', { phase: 'ended', outcome: 'stopped', exitCode: 143, trouble: 'stopped' }],
    ['hold', { phase: 'blocked', reason: 'held by you' }],
  ] as const)(
    '%s is recorded as such when no supervisor lived as it was asked for',
    async ([deed, recorded], { skip }) => {
      const disk = await fullDisk()
      if (disk === undefined) return skip(NO_MOUNT)
      await killSupervisor()
      useUpReserve()
      await until('the disk is full again', () => disk.room === 0 || undefined)
      await house.ok(deed, 'greedy')
      expect(await house.status('greedy')).toMatchObject(recorded)
      await house.ok('killall', '--yes')
      await house.ok('clean', '--yes')
    },
  )

  const endings = ['stop', 'hold', 'killall'] as const
  describe.each(endings.slice(0, strength(1, endings.length)))('that has no room for more files', deed => {
    it(`${deed} works, and clean afterwards`, async ({ skip }) => {
      const disk = await SmallDisk.under(house, 64, strength(800, 8_000))
      if (disk === undefined) return skip(NO_MOUNT)
      await house.ok('run', '--name', 'quiet', '--headless', '--', 'sleep', '1000')
      await until('the supervisor has its reserve', () => fs.existsSync(reserve()) || undefined)
      const files = path.join(house.home.root, 'litter')
      fs.mkdirSync(files)
      const greedy = `cd '${files}'; n=0; while :; do n=$((n+1)); : >$n || sleep 0.01; done 2>/dev/null`
      await house.ok('run', '--name', 'greedy', '--headless', '--', 'sh', '-c', greedy)
      await until('the disk is full', () => disk.freeFiles === 0 || undefined)
      const { pid } = await house.daemon()
      const { pid: life } = await house.status('greedy')
      if (deed === 'killall') await house.ok('killall', '--yes')
      else await house.ok(deed, 'greedy')
      expect(isAlive(life ?? 0)).toBe(false)
      await house.ok('killall', '--yes')
      await house.ok('clean', '--yes')
      expect(await house.list()).toEqual([])
      expect((await house.daemon()).pid).toBe(pid)
    })
  })

  it('a session is stopped when its supervisor was killed there', async ({ skip }) => {
    const disk = await fullDisk()
    if (disk === undefined) return skip(NO_MOUNT)
    await killSupervisor()
    await house.ok('stop', 'greedy')
    expect(await house.status('greedy')).toMatchObject({ phase: 'ended', outcome: 'stopped' })
  })

  const deeds: [string, string[]][] = [
    ['hold', ['hold', 'greedy']],
    ['clean', ['clean', 'old', '--yes']],
    ['killall', ['killall', '--yes']],
    ['stop', ['stop', 'greedy']],
    ['stop of another', ['stop', 'quiet']],
    ['hold of another', ['hold', 'quiet']],
  ]
  it.each(deeds.slice(0, strength(1, deeds.length)))(
    '%s works when the supervisor was killed there and the reserve is used up',
    async (_, deed) => {
      const disk = await SmallDisk.under(house, strength(32, 512))
      if (disk === undefined) return
      await house.ok('run', '--name', 'old', '--headless', '--', 'true')
      await house.ended('old')
      await fill(disk)
      await killSupervisor()
      useUpReserve()
      await until('the disk is full again', () => disk.room === 0 || undefined)
      await house.ok(...deed)
      await house.ok('killall', '--yes')
      await house.ok('clean', '--yes')
      expect(await house.list()).toEqual([])
    },
  )
})
