import fs from 'node:fs'
import { step } from '../../core/step.ts'
import { wordsOf } from '../../lib/trouble.ts'
import type { Home } from '../os/home.ts'
import { mirrorTo, readMirrors } from './mirror.ts'
import { openDatabase } from './sqlite.ts'
import { openStore, type SqliteStore } from './sqlite-store.ts'

const CORRUPT = /malformed|not a database|corrupt|integrity/

/**
 * Opens the database of this home. One that cannot be read is moved aside, never deleted, and its sessions are rebuilt
 * from the copies that lie beside their output; what happened since is then seen as after any crash.
 */
export function openOrRebuild(home: Home, say: (sentence: string) => void): SqliteStore {
  const onRecord = mirrorTo(home)
  try {
    assertSound(home.database)
    return openStore(home.database, onRecord)
  } catch (cause) {
    if (!CORRUPT.test(wordsOf(cause))) throw cause
    const aside = `${home.database}.corrupt-${new Date().toISOString().replaceAll(':', '-')}`
    for (const suffix of ['', '-wal', '-shm']) moveAside(`${home.database}${suffix}`, `${aside}${suffix}`)
    const store = openStore(home.database, onRecord)
    const sessions = readMirrors(home)
    for (const session of sessions) store.record(step(session, []))
    say(
      `the database could not be read (${wordsOf(cause)}); moved to ${aside}, ${sessions.length} sessions rebuilt from the spool`,
    )
    return store
  }
}

function assertSound(file: string): void {
  if (!fs.existsSync(file)) return
  const database = openDatabase(file)
  try {
    const row = database.prepare('PRAGMA quick_check(1)').get() as { quick_check: string }
    if (row.quick_check !== 'ok') throw new Error(`integrity: ${row.quick_check}`)
  } finally {
    database.close()
  }
}

function moveAside(from: string, to: string): void {
  if (fs.existsSync(from)) fs.renameSync(from, to)
}
