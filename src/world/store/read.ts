import fs from 'node:fs'
import type { Event } from '../../core/events.ts'
import type { Session } from '../../core/session.ts'
import type { Home } from '../os/home.ts'
import { readMirrors } from './mirror.ts'
import { type Database, openDatabase } from '../os/sqlite.ts'
import { sessionsIn } from './sqlite-store.ts'

/** All sessions, newest first, without a supervisor. A database that cannot be read is answered from the copies. */
export function readAll(home: Home): Session[] {
  return reading(
    home,
    database => sessionsIn(database.prepare('SELECT state FROM sessions ORDER BY created_at DESC').all()),
    () => readMirrors(home).sort((a, b) => b.spec.createdAt - a.spec.createdAt),
  )
}

/** Those that have not ended, in no order. */
export function readLive(home: Home): Session[] {
  return reading(
    home,
    database => sessionsIn(database.prepare('SELECT state FROM sessions WHERE is_live = 1').all()),
    () => readMirrors(home).filter(({ phase }) => phase.name !== 'ended'),
  )
}

export function readOne(home: Home, id: string): Session | undefined {
  const one = (database: Database): Session[] =>
    sessionsIn(database.prepare('SELECT state FROM sessions WHERE id = ?').all(id))
  return reading(home, one, () => readMirrors(home).filter(session => session.spec.id === id))[0]
}

export function readEvents(home: Home, id: string): Event[] {
  const sql = 'SELECT body FROM events WHERE session_id = ? ORDER BY seq'
  const rows = reading(
    home,
    database => database.prepare(sql).all(id),
    () => [],
  )
  return (rows as { body: string }[]).map(row => JSON.parse(row.body) as Event)
}

/** Returns the effects of a session that were decided and not yet settled, in order. */
export function readOutbox(home: Home, id: string): unknown[] {
  const sql = 'SELECT effect FROM outbox WHERE session_id = ? ORDER BY seq'
  const rows = reading(
    home,
    database => database.prepare(sql).all(id),
    () => [],
  )
  return (rows as { effect: string }[]).map(row => JSON.parse(row.effect) as unknown)
}

export function reading<T>(home: Home, ask: (database: Database) => T[], otherwise: () => T[]): T[] {
  try {
    return ask(connectionTo(home.database))
  } catch {
    known = undefined
    return otherwise() // Not there, corrupt, or just being created: the copies beside the output tell the same.
  }
}

let known: { readonly file: string; readonly inode: number; readonly database: Database } | undefined

/**
 * One connection for whoever looks again and again: @photostructure/sqlite 1.2.1 keeps the files of a closed one open
 * until its statements are collected, and a long `follow` ran up hundreds of them.
 */
function connectionTo(file: string): Database {
  const { ino: inode } = fs.statSync(file)
  if (known?.file !== file || known.inode !== inode) {
    known?.database.close()
    known = { file, inode, database: openDatabase(file, { readOnly: true }) }
  }
  return known.database
}
