import fs from 'node:fs'
import type { Event } from '../../core/session/events.ts'
import type { Session } from '../../core/session/session.ts'
import type { Home } from '../../state/home.ts'
import { readMirrors } from './mirror.ts'
import { type Database, openForReading } from '../../os/sqlite.ts'
import { parseSessions } from './sqlite-store.ts'
import type { Instant } from '../../lib/time.ts'

/** Returns all sessions, newest first, without a supervisor. If the database is unreadable, reads the copies. */
export function readStoredSessions(home: Home): Session[] {
  return query(
    home,
    database => parseSessions(database.prepare('SELECT state FROM sessions ORDER BY created_at DESC').all()),
    () => readMirrors(home).sort((a, b) => b.spec.createdAt - a.spec.createdAt),
  )
}

/** Returns the sessions that have not ended, in no particular order. */
export function readLiveSessions(home: Home): Session[] {
  return query(
    home,
    database => parseSessions(database.prepare('SELECT state FROM sessions WHERE is_live = 1').all()),
    () => readMirrors(home).filter(({ phase }) => phase.name !== 'ended'),
  )
}

export function readStoredSession(home: Home, id: string): Session | undefined {
  const select = (database: Database): Session[] =>
    parseSessions(database.prepare('SELECT state FROM sessions WHERE id = ?').all(id))
  return query(home, select, () => readMirrors(home).filter(session => session.spec.id === id))[0]
}

export function readEvents(home: Home, id: string): Event[] {
  const sql = 'SELECT body FROM events WHERE session_id = ? ORDER BY seq'
  const rows = query(
    home,
    database => database.prepare(sql).all(id),
    () => [],
  )
  return (rows as { body: string }[]).map(row => JSON.parse(row.body) as Event)
}

/** Returns the effects of a session that were decided and not yet settled, in order. */
export function readOutbox(home: Home, id: string): unknown[] {
  const sql = 'SELECT effect FROM outbox WHERE session_id = ? ORDER BY seq'
  const rows = query(
    home,
    database => database.prepare(sql).all(id),
    () => [],
  )
  return (rows as { effect: string }[]).map(row => JSON.parse(row.effect) as unknown)
}

function query<T>(home: Home, select: (database: Database) => T[], fallback: () => T[]): T[] {
  try {
    return select(openConnection(home.database))
  } catch {
    connection = undefined
    return fallback() // The database is missing, corrupt, or just being created: the copies hold the same.
  }
}

let connection: { readonly file: string; readonly inode: number; readonly database: Database } | undefined

/**
 * Keeps one connection for repeated reads: @photostructure/sqlite 1.2.1 keeps the files of a closed connection open
 * until its statements are collected, and a long `follow` accumulated hundreds of them.
 */
function openConnection(file: string): Database {
  const { ino: inode } = fs.statSync(file)
  if (connection?.file !== file || connection.inode !== inode) {
    connection?.database.close()
    connection = { file, inode, database: openForReading(file) }
  }
  return connection.database
}

/** Delivery statistics of one channel. */
export interface ChannelDeliveries {
  readonly channel: string
  readonly pending: number
  readonly nextAt: Instant | null
  readonly deliveredAt: Instant | null
  readonly failedAt: Instant | null
  readonly failure: string | null
}

/** Reads the delivery statistics. A failure before a later success no longer counts. */
export function readDeliveries(home: Home): ChannelDeliveries[] {
  return query(
    home,
    database =>
      database
        .prepare(
          `SELECT channel,
             SUM(state = 'pending') AS pending,
             MIN(CASE WHEN state = 'pending' THEN due END) AS nextAt,
             MAX(CASE WHEN state = 'delivered' THEN at END) AS deliveredAt,
             (SELECT f.at FROM deliveries f
               WHERE f.channel = d.channel AND f.state <> 'delivered' AND f.remark <> ''
               ORDER BY f.at DESC LIMIT 1) AS failedAt,
             (SELECT f.remark FROM deliveries f
               WHERE f.channel = d.channel AND f.state <> 'delivered' AND f.remark <> ''
               ORDER BY f.at DESC LIMIT 1) AS failure
           FROM deliveries d GROUP BY channel`,
        )
        .all() as ChannelDeliveries[],
    () => [],
  )
}
