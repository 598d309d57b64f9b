import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest'
import { DiskMonitor, DiskReserve } from './disk-reserve.ts'

const SIZE = 4 * 1_048_576
const PIECES = 64

let root: string
let reserve: DiskReserve
beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'reserve-'))
  reserve = new DiskReserve({ root })
})
afterEach(() => fs.rmSync(root, { recursive: true, force: true }))

const partFile = (): string => path.join(root, 'reserve.part')
const sizeOf = (file: string): number => fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0
const nextTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

describe('the reserve', () => {
  it('fills in pieces and lets the event loop run after each piece', async () => {
    const sizes = new Set<number>()
    const state = { isFilled: false, turns: 0 }
    const filled = reserve.fill().finally(() => (state.isFilled = true))
    while (!state.isFilled) {
      sizes.add(sizeOf(partFile()))
      state.turns++
      await nextTurn()
    }
    expect(await filled).toBe(true)
    expect(state.turns).toBeGreaterThan(PIECES)
    expect(sizes.size).toBeGreaterThan(2)
    expect(sizeOf(path.join(root, 'reserve'))).toBe(SIZE)
    expect(fs.readdirSync(root)).toHaveLength(34)
  })

  it('frees everything when another process releases it during the write', async () => {
    const filled = reserve.fill()
    while (sizeOf(partFile()) === 0) await nextTurn()
    expect(new DiskReserve({ root }).release()).toBe(true)
    expect(await filled).toBe(false)
    expect(fs.readdirSync(root)).toEqual([])
    expect(reserve.release()).toBe(false)
  })

  it('frees everything when another process releases it while it creates the spare files', async () => {
    const filled = reserve.fill()
    while (!fs.existsSync(path.join(root, 'reserve.3'))) await nextTurn()
    expect(new DiskReserve({ root }).release()).toBe(true)
    expect(await filled).toBe(false)
    expect(fs.readdirSync(root)).toEqual([])
  })

  it('has a first part for one supervisor at once, and frees it with the rest', async () => {
    const first = path.join(root, 'reserve.first')
    reserve.fillFirst()
    reserve.fillFirst()
    expect(sizeOf(first)).toBe(128 * 1024)
    expect(reserve.hasSpaceForStart()).toBe(true)
    expect(await reserve.fill()).toBe(true)
    expect(reserve.release()).toBe(true)
    expect(fs.readdirSync(root)).toEqual([])
    expect(await reserve.fill()).toBe(true)
    expect(sizeOf(first)).toBe(128 * 1024)
  })

  it('fills again after a supervisor was killed halfway', async () => {
    fs.writeFileSync(partFile(), Buffer.alloc(2 * SIZE))
    fs.writeFileSync(path.join(root, 'reserve.0'), '')
    expect(await reserve.fill()).toBe(true)
    expect(fs.existsSync(partFile())).toBe(false)
    expect(sizeOf(path.join(root, 'reserve'))).toBe(SIZE)
    expect(await reserve.fill()).toBe(true)
  })
})

test('the disk monitor reports a full disk once and free space once', async () => {
  const said: string[] = []
  let hasRoom = false
  const watch = new DiskMonitor(
    sentence => said.push(sentence),
    async () => hasRoom,
  )
  const full = Object.assign(new Error('x'), { code: 'ENOSPC' })
  for (const cause of [full, new Error('database or disk is full'), new Error('disk I/O error')])
    expect(watch.reportIfFull(cause)).toBe(true)
  expect(watch.reportIfFull(new Error('tmux is gone'))).toBe(false)
  await watch.check()
  hasRoom = true
  await watch.check()
  await watch.check()
  expect(said).toEqual([expect.stringMatching(/disk is full/), expect.stringMatching(/room again/)])
})

test('the disk monitor runs one fill at a time', async () => {
  let begun = 0
  let end: (hasRoom: boolean) => void = () => undefined
  const watch = new DiskMonitor(
    () => undefined,
    () => {
      begun++
      return new Promise(resolve => (end = resolve))
    },
  )
  const first = watch.check()
  await watch.check()
  expect(begun).toBe(1)
  end(true)
  await first
  const second = watch.check()
  expect(begun).toBe(2)
  end(true)
  await second
})
