import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openDatabase, openForReading } from '../../os/sqlite.ts'
import { openStore, type SqliteStore } from './sqlite-store.ts'

const SIZE = 1_048_576
const PIECES = 16

let folder: string
let file: string
let store: SqliteStore
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'store-'))
  file = path.join(folder, 'oneshot.db')
  store = openStore(file)
})
afterEach(() => {
  store.close()
  fs.rmSync(folder, { recursive: true, force: true })
})

/** Counts the turns of the event loop until the work ends. */
async function countTurns(work: Promise<void>): Promise<number> {
  const state = { isOver: false, turns: 0 }
  const over = work.finally(() => (state.isOver = true))
  while (!state.isOver) {
    state.turns++
    await new Promise(resolve => setImmediate(resolve))
  }
  await over
  return state.turns
}

function ballast(): number {
  const reader = openDatabase(file, { readOnly: true })
  const { count } = reader.prepare(`SELECT COUNT(*) AS count FROM meta WHERE key LIKE 'ballast%'`).get() as {
    count: number
  }
  reader.close()
  return count
}

test('the store reserves space in pieces and lets the event loop run after each piece', async () => {
  expect(await countTurns(store.reserveSpace(SIZE))).toBeGreaterThan(PIECES)
  expect(fs.statSync(file).size).toBeGreaterThan(SIZE)
  expect(fs.statSync(`${file}-wal`).size).toBeGreaterThan(SIZE)
  expect(ballast()).toBe(0)
})

test('reserveFirstSpace leaves free pages in the file of a new database, so that its journal can restart on a full disk', () => {
  store.reserveFirstSpace()
  const left = path.join(folder, 'left.db')
  fs.copyFileSync(file, left)
  const reader = openForReading(left)
  expect(reader.prepare(`SELECT value FROM meta WHERE key = 'epoch'`).get()).toEqual({ value: '1' })
  expect(reader.prepare('PRAGMA freelist_count').get()).toEqual({
    freelist_count: expect.toSatisfy((count: number) => count >= 16),
  })
  reader.close()
  const { size } = fs.statSync(file)
  store.reserveFirstSpace()
  expect(fs.statSync(file).size).toBe(size)
  expect(ballast()).toBe(0)
})

test('reserveSpace does nothing in a database with enough space, also for the next supervisor', async () => {
  await store.reserveSpace(SIZE)
  const successor = openStore(file)
  expect(await countTurns(successor.reserveSpace(SIZE))).toBe(1)
  successor.close()
})

test('reserveSpace removes the pieces that a killed supervisor left in the database', async () => {
  const interrupted = store.reserveSpace(SIZE)
  await new Promise(resolve => setImmediate(resolve))
  expect(ballast()).toBeGreaterThan(0)
  const successor = openStore(file)
  await expect(interrupted).rejects.toThrow('epoch')
  await successor.reserveSpace(SIZE)
  expect(ballast()).toBe(0)
  successor.close()
})

test('reserveSpace extends the index of the journal without gaps, for the supervisor after a kill', async () => {
  await store.reserveSpace(SIZE)
  const { size, blocks } = fs.statSync(`${file}-shm`)
  expect(size).toBeGreaterThanOrEqual(SIZE)
  expect(blocks * 512).toBeGreaterThanOrEqual(size)
  expect(store.all()).toEqual([])
})

test('a reader does not change the index that a killed supervisor left, and reads what that supervisor wrote', async () => {
  await store.reserveSpace(SIZE)
  const left = path.join(folder, 'left.db')
  for (const end of ['', '-wal', '-shm']) fs.copyFileSync(`${file}${end}`, `${left}${end}`)
  const reader = openForReading(left)
  expect(reader.prepare(`SELECT value FROM meta WHERE key = 'epoch'`).get()).toEqual({ value: '1' })
  expect(fs.statSync(`${left}-shm`).size).toBe(fs.statSync(`${file}-shm`).size)
  reader.close()
})
