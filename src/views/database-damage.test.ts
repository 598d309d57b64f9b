import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { locateHome } from '../state/home.ts'
import { makeDecision } from '../core/session/decision.ts'
import { storedSession } from '../../testkit/views/stored-sessions.ts'
import { openDatabase } from '../os/sqlite.ts'
import { openStore } from '../world/store/sqlite-store.ts'
import { checkDatabaseFile } from './database-damage.ts'

let root: string
beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'damage-'))
})
afterEach(() => fs.rmSync(root, { recursive: true, force: true }))

const check = (onSlow = (): void => undefined) => checkDatabaseFile(locateHome({ ONESHOT_HOME: root }), onSlow)

function writeSessions(count: number): string {
  const { database } = locateHome({ ONESHOT_HOME: root })
  const store = openStore(database)
  for (let n = 0; n < count; n++) store.record(makeDecision(storedSession({ id: `s${n}`, endedAt: n }), []))
  store.close()
  return database
}

test('a home without a database has nothing to check', async () => {
  expect(await check()).toBeUndefined()
})

test('a readable database has no damage, and a small one is checked in silence', async () => {
  writeSessions(20)
  const reports: string[] = []
  expect(await check(() => void reports.push('slow'))).toEqual({ size: expect.any(Number), damage: null })
  expect(reports).toEqual([])
})

test('the check finds damage in a table that a supervisor of a large database does not read at its start', async () => {
  const file = writeSessions(40)
  const copy = path.join(root, 'copy.db')
  const database = openDatabase(file)
  database.exec(`VACUUM INTO '${copy}'`)
  const query = `SELECT rootpage FROM sqlite_schema WHERE name = 'index_created'`
  database.close()
  const copied = openDatabase(copy)
  const { rootpage } = copied.prepare(query).get() as { rootpage: number }
  copied.close()
  for (const suffix of ['', '-wal', '-shm']) fs.rmSync(`${file}${suffix}`, { force: true })
  const bytes = fs.readFileSync(copy)
  bytes.fill(0xff, (rootpage - 1) * 4096 + 8, rootpage * 4096)
  fs.writeFileSync(file, bytes)
  expect((await check())?.damage).toMatch(/index_created|malformed|tree/i)
})
