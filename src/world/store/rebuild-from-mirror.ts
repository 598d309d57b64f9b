import fs from 'node:fs'
import { errorMessage } from '../../lib/errors.ts'
import type { Home } from '../../state/home.ts'
import { isCorruption } from './maintenance/integrity.ts'
import { type SqliteStore, openStore } from './sqlite-store.ts'
import { createMirror, readMirrors } from './mirror.ts'

/**
 * Opens the database of this home. Moves an unreadable database aside, never deletes it, and rebuilds its sessions from
 * the copies beside their output; the supervisor then detects later changes as after any crash. Also fills an empty
 * database from the copies: a supervisor may have been killed during a rebuild.
 */
export function openOrRebuild(home: Home, log: (sentence: string) => void): SqliteStore {
  const onRecord = createMirror(home)
  try {
    const store = openStore(home.database, onRecord)
    const count = rebuildFromMirrors(home, store)
    if (count > 0) log(`the database was empty; ${count} sessions rebuilt from the spool`)
    return store
  } catch (cause) {
    if (!isCorruption(cause)) throw cause
    const sessions = readMirrors(home) // Before the move: if it throws, no empty database takes the place of the old one.
    const backup = `${home.database}.corrupt-${new Date().toISOString().replaceAll(':', '-')}`
    for (const suffix of ['', '-wal', '-shm']) moveAside(`${home.database}${suffix}`, `${backup}${suffix}`)
    const store = openStore(home.database, onRecord)
    store.insertSessions(sessions)
    log(
      `the database could not be read (${errorMessage(cause)}); moved to ${backup}, ${sessions.length} sessions rebuilt from the spool`,
    )
    return store
  }
}

function rebuildFromMirrors(home: Home, store: SqliteStore): number {
  if (!store.isEmpty()) return 0
  const sessions = readMirrors(home)
  store.insertSessions(sessions)
  return sessions.length
}

function moveAside(from: string, to: string): void {
  if (fs.existsSync(from)) fs.renameSync(from, to)
}
