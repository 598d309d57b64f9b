import fs from 'node:fs'
import { wordsOf } from '../../lib/trouble.ts'
import type { Home } from '../os/home.ts'
import { mirrorTo, readMirrors } from './mirror.ts'
import { openStore, type SqliteStore } from './sqlite-store.ts'

const CORRUPT = /malformed|not a database|corrupt|integrity/

/**
 * Opens the database of this home. One that cannot be read is moved aside, never deleted, and its sessions are rebuilt
 * from the copies that lie beside their output; what happened since is then seen as after any crash. An empty one is
 * filled from the copies, too: then we were killed in the middle of that.
 */
export function openOrRebuild(home: Home, say: (sentence: string) => void): SqliteStore {
  const onRecord = mirrorTo(home)
  try {
    const store = openStore(home.database, onRecord)
    const count = adoptCopies(home, store)
    if (count > 0) say(`the database was empty; ${count} sessions rebuilt from the spool`)
    return store
  } catch (cause) {
    if (!CORRUPT.test(wordsOf(cause))) throw cause
    const aside = `${home.database}.corrupt-${new Date().toISOString().replaceAll(':', '-')}`
    for (const suffix of ['', '-wal', '-shm']) moveAside(`${home.database}${suffix}`, `${aside}${suffix}`)
    const store = openStore(home.database, onRecord)
    const count = adoptCopies(home, store)
    say(
      `the database could not be read (${wordsOf(cause)}); moved to ${aside}, ${count} sessions rebuilt from the spool`,
    )
    return store
  }
}

function adoptCopies(home: Home, store: SqliteStore): number {
  if (!store.isEmpty()) return 0
  const sessions = readMirrors(home)
  store.adopt(sessions)
  return sessions.length
}

function moveAside(from: string, to: string): void {
  if (fs.existsSync(from)) fs.renameSync(from, to)
}
