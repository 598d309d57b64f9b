import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { testSessionId } from '../../../../testkit/core/ids.ts'
import { makeDecision } from '../../../core/session/decision.ts'
import { storedSession } from '../../../../testkit/views/stored-sessions.ts'
import { openDatabase } from '../../../os/sqlite.ts'
import { MIGRATIONS } from '../migrations.ts'
import { openStore } from '../sqlite-store.ts'
import { compact, countPages, MAX_JOURNAL_SIZE } from './compaction.ts'

const MB = 1_048_576

let folder: string
let file: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'compaction-'))
  file = path.join(folder, 'oneshot.db')
})
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

const sizeOf = (suffix = ''): number => fs.statSync(`${file}${suffix}`).size

/** Writes rows of a megabyte each, with a connection of its own, and removes those that are not kept. */
function writeAndRemove(size: number, { keep = 0 } = {}): void {
  const database = openDatabase(file)
  database.exec('PRAGMA synchronous = OFF')
  const put = database.prepare(`INSERT INTO meta VALUES (?, zeroblob(${MB}))`)
  for (let row = 0; row < size / MB; row++) put.run(`row ${row}`)
  database.prepare(`DELETE FROM meta WHERE key GLOB 'row *' AND CAST(substr(key, 5) AS INTEGER) >= ?`).run(keep / MB)
  database.close()
}

function readPages(): { all: number; free: number } {
  const database = openDatabase(file, { readOnly: true })
  const pages = countPages(database)
  database.close()
  return pages
}

describe('a new database', () => {
  test('returns the space of removed sessions, and keeps the reserve', async () => {
    const store = openStore(file)
    store.record(makeDecision(storedSession({ id: 'live' }), []))
    writeAndRemove(20 * MB)
    const before = readPages()
    expect(before.free).toBeGreaterThan(5_000)
    await store.compact()
    const after = readPages()
    expect(after.all).toBeLessThan(before.all / 4)
    expect(after.free).toBeGreaterThanOrEqual(512)
    await store.compact()
    expect(readPages()).toEqual(after)
    expect(store.load(testSessionId('live'))?.spec.id).toBe('live')
    expect(sizeOf()).toBe(after.all * 4096)
    store.close()
  })

  test('gets smaller in steps, and a supervisor that is superseded between two of them stops', async () => {
    const store = openStore(file)
    writeAndRemove(20 * MB)
    const before = readPages()
    const compacting = store.compact()
    const successor = openStore(file)
    await expect(compacting).rejects.toThrow('epoch')
    expect(readPages().all).toBe(before.all - 256)
    await successor.compact()
    expect(readPages().all).toBeLessThan(before.all / 4)
    for (const opened of [store, successor]) opened.close()
  })
})

test('the journal gets small again after a long reader, which neither waits nor makes an error', async () => {
  const store = openStore(file)
  const reader = openDatabase(file, { readOnly: true })
  reader.exec('BEGIN; SELECT * FROM meta')
  writeAndRemove(3 * MAX_JOURNAL_SIZE)
  await store.compact()
  expect(sizeOf('-wal')).toBeGreaterThan(3 * MAX_JOURNAL_SIZE)
  reader.exec('COMMIT')
  await store.compact()
  expect(sizeOf('-wal')).toBeLessThanOrEqual(MAX_JOURNAL_SIZE)
  reader.close()
  store.close()
})

describe('a database of an earlier version', () => {
  const everything = { isIdle: () => true, hasRoomFor: () => true }

  async function compactOlder({ size = 70 * MB, keep = MB, ...conditions }) {
    const database = openDatabase(file)
    database.exec(`PRAGMA journal_mode = WAL; ${MIGRATIONS.join('')} PRAGMA user_version = ${MIGRATIONS.length}`)
    database.exec('PRAGMA auto_vacuum = INCREMENTAL') // As `openStore` does: it takes effect with VACUUM.
    writeAndRemove(size, { keep })
    const before = countPages(database)
    const transact = (work: () => void): void => work()
    await compact({ database, file, transact, ...everything, ...conditions })
    const after = countPages(database)
    const { auto_vacuum: mode } = database.prepare('PRAGMA auto_vacuum').get() as { auto_vacuum: number }
    database.close()
    return { before, after, mode }
  }

  test('is rewritten once, and then gets smaller in steps', async () => {
    const { after, mode } = await compactOlder({})
    expect(after).toEqual({ all: expect.any(Number), free: 0 })
    expect(after.all).toBeLessThan(400)
    expect(mode).toBe(2)
  })

  test.each([
    ['it is small', { size: 20 * MB }],
    ['less than half of it is free', { keep: 40 * MB }],
    ['a session lives', { isIdle: () => false }],
    ['the disk has little room', { hasRoomFor: () => false }],
  ])('stays as it is while %s', async (_, conditions) => {
    const { before, after, mode } = await compactOlder(conditions)
    expect([after, mode]).toEqual([before, 0])
  })
})
