import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openDatabase } from '../../os/sqlite.ts'
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

/** Counts how often the event loop turns while the database takes its room. */
async function turnsOf(work: Promise<void>): Promise<number> {
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

test('the database takes its room in pieces, and the event loop turns after each of them', async () => {
  expect(await turnsOf(store.reserveSpace(SIZE))).toBeGreaterThan(PIECES)
  expect(fs.statSync(file).size).toBeGreaterThan(SIZE)
  expect(fs.statSync(`${file}-wal`).size).toBeGreaterThan(SIZE)
  expect(ballast()).toBe(0)
})

test('a database with enough room is left alone, also by the next supervisor', async () => {
  await store.reserveSpace(SIZE)
  const successor = openStore(file)
  expect(await turnsOf(successor.reserveSpace(SIZE))).toBe(1)
  successor.close()
})

test('the pieces that a killed supervisor left in the database are removed', async () => {
  const interrupted = store.reserveSpace(SIZE)
  await new Promise(resolve => setImmediate(resolve))
  expect(ballast()).toBeGreaterThan(0)
  const successor = openStore(file)
  await expect(interrupted).rejects.toThrow('epoch')
  await successor.reserveSpace(SIZE)
  expect(ballast()).toBe(0)
  successor.close()
})
