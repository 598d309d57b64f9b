import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { storedSession } from '../../../testkit/views/stored-sessions.ts'
import { type Database, openDatabase } from '../../os/sqlite.ts'
import { MIGRATIONS } from './migrations.ts'
import { openStore } from './sqlite-store.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'migrations-'))
  file = path.join(folder, 'oneshot.db')
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

const sessions = [
  storedSession({ id: 'live', label: 'mine', createdAt: 1 }),
  storedSession({ id: 'ended', endedAt: 7, thread: 't1', startedBy: 'live', createdAt: 2 }),
  storedSession({ id: 'worker', parent: { id: 'live', key: 'task 1' }, cwd: '/tree', createdAt: 3 }),
]

function change<T>(action: (database: Database) => T): T {
  const database = openDatabase(file)
  try {
    return action(database)
  } finally {
    database.close()
  }
}

function indexRows(): unknown[] {
  return change(database => database.prepare('SELECT * FROM session_index ORDER BY id').all())
}

/** Leaves a database as the version before the index wrote it. */
function leaveVersion2(): void {
  change(database => database.exec('DROP TABLE session_index; PRAGMA user_version = 2'))
}

test('the migration gives an old database the same index that its records would have had', () => {
  const store = openStore(file)
  store.insertSessions(sessions)
  store.close()
  const written = indexRows()
  leaveVersion2()
  openStore(file).close()
  expect(indexRows()).toEqual(written)
  expect(written).toHaveLength(sessions.length)
})

test('a supervisor killed within the migration leaves the old database, and the next one migrates it', () => {
  const store = openStore(file)
  store.insertSessions(sessions)
  store.close()
  leaveVersion2()
  const killed = openDatabase(file)
  killed.exec(`BEGIN IMMEDIATE; ${MIGRATIONS[2]} PRAGMA user_version = 3;`)
  killed.close() // Without a commit, as after a kill.
  expect(change(database => database.prepare('PRAGMA user_version').get())).toEqual({ user_version: 2 })
  const next = openStore(file)
  expect(next.count()).toEqual({ live: 2, ended: 1 })
  next.close()
})

test('the migration keeps a record that nobody can read, and leaves it out of the index', () => {
  const store = openStore(file)
  store.insertSessions(sessions)
  store.close()
  leaveVersion2()
  change(database => database.exec(`UPDATE sessions SET state = '{' WHERE id = 'ended'`))
  const next = openStore(file)
  expect(next.count()).toEqual({ live: 2, ended: 0 })
  next.close()
})
