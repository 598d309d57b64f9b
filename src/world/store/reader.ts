import fs from 'node:fs'
import type { Effect } from '../../core/session/decision.ts'
import type { Event } from '../../core/session/events.ts'
import type { SessionId } from '../../core/session/session-id-and-name.ts'
import type { Session } from '../../core/session/session-state.ts'
import type { Home } from '../../state/home.ts'
import { readMirrors } from './mirror.ts'
import { type Database, openDatabase, openForReading, repeatRead } from '../../os/sqlite.ts'
import { IndexReader } from './index-reader.ts'
import { MIGRATIONS, migrate, readVersion, temporaryIndex } from './migrations.ts'
import { parseSessions, SessionWriter } from './session-rows.ts'
import { decodeEffect, decodeEvent, isNewerRecord } from './stored-records.ts'
import type { Instant } from '../../lib/time.ts'

/**
 * Searches the index of sessions without a supervisor. All reads of one search see the same state. If the database is
 * unreadable, searches the copies.
 */
export function searchSessions<T>(home: Home, search: (index: IndexReader) => T): T {
  return query(home, database => {
    database.exec('BEGIN')
    try {
      return search(new IndexReader(database))
    } finally {
      database.exec('COMMIT')
    }
  })
}

/** Returns the sessions that were made last, newest first. */
export function readRecentSessions(home: Home, limit: number): Session[] {
  return searchSessions(home, index => index.loadAll(index.newest(limit).map(({ id }) => id)))
}

/** Returns the sessions that have not ended, in no particular order. */
export function readLiveSessions(home: Home): Session[] {
  return query(home, database => parseSessions(database.prepare('SELECT state FROM sessions WHERE is_live = 1').all()))
}

/** Returns the workers of a session, oldest first. */
export function readChildren(home: Home, parent: SessionId): Session[] {
  return searchSessions(home, index => index.loadAll(index.children(parent).map(({ id }) => id)))
}

export function readStoredSession(home: Home, id: SessionId): Session | undefined {
  return searchSessions(home, index => index.load(id))
}

/** Returns all events of a session, in the order of their records. */
export function readEvents(home: Home, id: SessionId): Event[] {
  return readEventsAfter(home, id, 0).events
}

/** Returns the events behind a position, and the position of the last one. */
export function readEventsAfter(home: Home, id: SessionId, after: number): { events: Event[]; last: number } {
  const sql = 'SELECT seq, body FROM events WHERE session_id = ? AND seq > ? ORDER BY seq'
  const rows = query(home, database => database.prepare(sql).all(id, after)) as { seq: number; body: string }[]
  return { events: rows.map(row => decodeEvent(row.body)), last: rows.at(-1)?.seq ?? after }
}

/** Events that are in memory at the same time. */
const EVENT_PAGE = 500

/**
 * Yields the events of a session in the order of their times, all or only the `newest`. Keeps no read open between two
 * pages: a slow consumer, such as a pager, would let the journal grow.
 */
export function* readEventsByTime(home: Home, id: SessionId, newest: number | 'all'): Generator<Event> {
  const sql = 'SELECT seq FROM events WHERE session_id = ? ORDER BY at DESC, seq DESC LIMIT ?'
  const rows = query(home, database => database.prepare(sql).all(id, newest === 'all' ? -1 : newest))
  const positions = Float64Array.from((rows as { seq: number }[]).reverse(), row => row.seq)
  for (let from = 0; from < positions.length; from += EVENT_PAGE)
    yield* readEventsAt(home, positions.subarray(from, from + EVENT_PAGE))
}

function readEventsAt(home: Home, positions: Float64Array): Event[] {
  return query(home, database => {
    const select = database.prepare('SELECT body FROM events WHERE seq = ?')
    return [...positions].flatMap(seq => select.all(seq) as { body: string }[])
  }).map(row => decodeEvent(row.body))
}

/** Returns the effects of a session that were decided and not yet settled, in order. */
export function readOutbox(home: Home, id: SessionId): Effect[] {
  const sql = 'SELECT effect FROM outbox WHERE session_id = ? ORDER BY seq'
  const rows = query(home, database => database.prepare(sql).all(id))
  return (rows as { effect: string }[]).map(row => decodeEffect(row.effect))
}

function query<T>(home: Home, select: (database: Database) => T): T {
  try {
    return repeatRead(() => select(openConnection(home.database)))
  } catch (cause) {
    if (isNewerRecord(cause)) throw cause
    connection = undefined
    return select(databaseOfCopies(home)) // The database is missing, corrupt, or just being created.
  }
}

function databaseOfCopies(home: Home): Database {
  const database = openDatabase(':memory:')
  migrate(database)
  const writer = new SessionWriter(database)
  for (const session of readMirrors(home)) writer.put(session)
  return database
}

let connection: OpenDatabase | undefined

interface OpenDatabase {
  readonly file: string
  readonly inode: number
  readonly database: Database
  /** True when an older oneshot has written the database, which has no index yet. */
  readonly isOlder: boolean
}

/**
 * Keeps one connection for repeated reads: @photostructure/sqlite 1.2.1 keeps the files of a closed connection open
 * until its statements are collected, and a long `follow` accumulated hundreds of them.
 */
function openConnection(file: string): Database {
  const { ino: inode } = fs.statSync(file)
  if (connection?.file !== file || connection.inode !== inode) {
    connection?.database.close()
    const database = openForReading(file)
    connection = { file, inode, database, isOlder: readVersion(database) < MIGRATIONS.length }
  }
  // The older supervisor may still write: the index is made again for each search.
  if (connection.isOlder) connection.database.exec(temporaryIndex())
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
  )
}
