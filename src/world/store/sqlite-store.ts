import fs from 'node:fs'
import path from 'node:path'
import type { ThreadId } from '../../core/session/conversation.ts'
import { isSessionId, type SessionId } from '../../core/session/session-id-and-name.ts'
import type { Session } from '../../core/session/session-state.ts'
import type { Decision } from '../../core/session/decision.ts'
import type { Instant } from '../../lib/time.ts'
import { isDiskFull } from '../../lib/errors.ts'
import { NOTHING_OUTGOING, type Outgoing } from '../../ports/notifications.ts'
import { type PendingEffect, type Store, type StoredEvent, Superseded } from '../../ports/store.ts'
import { DiskReserve } from '../../state/disk-reserve.ts'
import { compact, countPages, MAX_JOURNAL_SIZE, PAGE_SIZE } from './maintenance/compaction.ts'
import { assertIntegrity } from './maintenance/integrity.ts'
import { migrate } from './migrations.ts'
import { SessionIndex } from './session-index.ts'
import { parseSessions, SessionWriter } from './session-rows.ts'
import { decodeEffect, decodeEvent } from './stored-records.ts'
import { SqliteNotifications } from './sqlite-notifications.ts'
import { type Database, indexOf, journalOf, openDatabase } from '../../os/sqlite.ts'

/** SQLite writes a piece of this size in less than a millisecond. */
const BALLAST = 64 * 1024
/** Opens the store for writing and increases the epoch, after which no earlier supervisor can write. */
export function openStore(file: string, onRecord: (session: Session) => void = () => undefined): SqliteStore {
  const reserve = new DiskReserve({ root: path.dirname(file) })
  return new SqliteStore(
    reserve.retryAfterRelease(() => openForNewEpoch(file)),
    { file, onRecord, reserve },
  )
}

function openForNewEpoch(file: string): Database {
  const database = openDatabase(file)
  try {
    assertIntegrity(database)
    // A new database returns freed pages in small steps; an older one does so after its next VACUUM.
    database.exec(`PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
      PRAGMA journal_size_limit = ${MAX_JOURNAL_SIZE}; PRAGMA foreign_keys = ON;`)
    migrate(database)
    raiseEpoch(database)
    return database
  } catch (cause) {
    // The last connection to close removes the journal: on a full disk others would take that space, and no later
    // supervisor could start.
    if (!isDiskFull(cause)) database.close()
    throw cause
  }
}

/** Raises the epoch; on a full disk, restarts the journal at its beginning: it has no space at its end. */
function raiseEpoch(database: Database): void {
  const raise = (): void => database.exec(`UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'epoch'`)
  try {
    raise()
  } catch (cause) {
    if (!isDiskFull(cause)) throw cause
    database.exec('PRAGMA wal_checkpoint(RESTART)')
    raise()
  }
}

export class SqliteStore implements Store {
  readonly epoch: number
  readonly notifications: SqliteNotifications
  readonly #database: Database
  readonly #file: string
  readonly #inode: number | undefined
  readonly #onRecord: (session: Session) => void
  readonly #reserve: DiskReserve
  readonly #sql: ReturnType<typeof statements>
  readonly #sessions: SessionIndex
  readonly #writer: SessionWriter
  #index: number | undefined

  constructor(
    database: Database,
    options: { file: string; onRecord: (session: Session) => void; reserve: DiskReserve },
  ) {
    this.#reserve = options.reserve
    this.#database = database
    this.#file = options.file
    this.#inode = readInode(options.file)
    this.#onRecord = options.onRecord
    this.#sql = statements(database)
    this.#sessions = new SessionIndex(database)
    this.#writer = new SessionWriter(database)
    this.notifications = new SqliteNotifications(database, work => this.#transactWithoutSync(work))
    this.epoch = this.#storedEpoch()
  }

  assertEpoch(): void {
    if (readInode(this.#file) !== this.#inode)
      throw new Superseded(`somebody has replaced the database of epoch ${this.epoch}`)
    const stored = this.#storedEpoch()
    if (stored !== this.epoch)
      throw new Superseded(`epoch ${stored} has begun; this supervisor belongs to epoch ${this.epoch}`)
  }

  record(step: Decision, outgoing: Outgoing = NOTHING_OUTGOING): void {
    const { session, events, effects } = step
    const { id } = session.spec
    this.#transact(() => {
      this.#writer.put(session)
      for (const event of events) this.#sql.addEvent.run(id, event.at, event.type, JSON.stringify(event))
      for (const effect of effects) this.#sql.addEffect.run(id, JSON.stringify(effect))
      this.notifications.add(outgoing)
    })
    this.#onRecord(session)
  }

  isEmpty(): boolean {
    return this.#sql.any.get() === undefined
  }

  /** Inserts sessions that were recorded elsewhere: all or none. */
  insertSessions(sessions: readonly Session[]): void {
    this.#transact(() => {
      for (const session of sessions) {
        this.#writer.put(session)
        const { spec, phase } = session
        const { number: attempt } = session.attempt
        // The copies do not include pending effects; without this one, nobody would repeat a launch.
        if (phase.name === 'starting') this.#sql.addEffect.run(spec.id, JSON.stringify({ type: 'launch', attempt }))
      }
    })
  }

  load(id: SessionId): Session | undefined {
    return parseSessions(this.#sql.session.all(id))[0]
  }

  all(): Session[] {
    return parseSessions(this.#sql.all.all())
  }

  live(): Session[] {
    return parseSessions(this.#sql.live.all())
  }

  count(): { live: number; ended: number } {
    return this.#sessions.count()
  }

  *unsettled(): Generator<Session> {
    for (const id of this.#sessions.unsettledIds()) yield* this.#loadAll([id])
  }

  markSettled(ids: readonly SessionId[]): void {
    this.#transactWithoutSync(() => {
      for (const id of ids) this.#sessions.settle(id)
    })
  }

  isNameUsed(name: string): boolean {
    return this.#sessions.isNameUsed(name)
  }

  isThreadUsed(thread: ThreadId, { except }: { except: SessionId }): boolean {
    return this.#sessions.isThreadUsed(thread, except)
  }

  findChild(parentId: SessionId, key: string): Session | undefined {
    const id = this.#sessions.childId(parentId, key)
    return id === undefined ? undefined : this.load(id)
  }

  family(id: SessionId): Session[] {
    return this.#loadAll(this.#sessions.familyIds(id))
  }

  *inFolder(cwd: string): Generator<Session> {
    for (const id of this.#sessions.idsInFolder(cwd)) yield* this.#loadAll([id])
  }

  removable(endedBefore: Instant, limit: number): SessionId[] {
    return this.#sessions.removableIds(endedBefore, limit)
  }

  #loadAll(ids: readonly SessionId[]): Session[] {
    return ids.flatMap(id => this.load(id) ?? [])
  }

  pendingEffects(sessionId?: SessionId): PendingEffect[] {
    const rows = sessionId === undefined ? this.#sql.pending.all() : this.#sql.pendingOf.all(sessionId)
    return (rows as { seq: number; session_id: string; effect: string }[]).flatMap(row =>
      isSessionId(row.session_id)
        ? [{ key: String(row.seq), sessionId: row.session_id, effect: decodeEffect(row.effect) }]
        : [],
    )
  }

  /** Settles without fsync. After a power cut the supervisor performs the effect again, which changes nothing. */
  settleEffect(key: string): void {
    this.#transactWithoutSync(() => this.#sql.settle.run(Number(key)))
  }

  nextDue(): Instant | undefined {
    const row = this.#sql.nextDue.get() as { due: number | null } | undefined
    return row?.due ?? undefined
  }

  dueSessions(now: Instant): SessionId[] {
    return (this.#sql.due.all(now) as { id: string }[]).map(row => row.id).filter(isSessionId)
  }

  events(sessionId: SessionId): StoredEvent[] {
    const rows = this.#sql.events.all(sessionId) as { seq: number; body: string }[]
    return rows.map(row => ({ seq: row.seq, sessionId, event: decodeEvent(row.body) }))
  }

  remove(id: SessionId): void {
    this.#transact(() => {
      for (const statement of [this.#sql.dropSession, this.#sql.dropEvents, this.#sql.dropEffects]) statement.run(id)
      this.#sessions.remove(id)
    })
  }

  /**
   * Allocates one piece within a new database, whose tables are in the journal only. If a program filled the disk before
   * that, the database could not grow, and so the journal could not restart and would need space for every record.
   */
  reserveFirstSpace(): void {
    if (countPages(this.#database).free * PAGE_SIZE >= BALLAST / 2) return
    try {
      this.#transactWithoutSync(() => this.#sql.putBallast.run('ballast.first', BALLAST))
      this.#dropBallast()
      restartJournal(this.#database)
    } catch (cause) {
      if (!isDiskFull(cause)) throw cause
    }
  }

  /**
   * Allocates free space within the database and its journal, at most `size` bytes each. SQLite writes both in place,
   * so the supervisor can record a stop on a full disk. Other work runs between two pieces.
   */
  async reserveSpace(size: number): Promise<void> {
    this.#reserveIndex(size)
    this.#dropBallast() // Removes the pieces of a supervisor that was killed here.
    if (this.#hasReserved(size / 2)) return
    for (let piece = 0; piece * BALLAST < size; piece++) {
      this.#transactWithoutSync(() => this.#sql.putBallast.run(`ballast.${piece}`, BALLAST))
      await new Promise(resolve => setImmediate(resolve))
    }
    this.#dropBallast()
    await syncFile(journalOf(this.#file)) // Another thread syncs, so that SQLite need not wait.
    this.#database.exec('PRAGMA wal_checkpoint(RESTART); PRAGMA shrink_memory')
  }

  /** Returns the space of removed sessions and of a long journal to the file system, in small steps. */
  async compact(): Promise<void> {
    if (this.#reserve.isDiskFull) return
    await compact({
      database: this.#database,
      file: this.#file,
      transact: work => this.#withoutSync(() => this.#tryTransaction(work)),
      hasRoomFor: bytes => this.#reserve.limitToShare(bytes) === bytes,
      isIdle: () => this.count().live === 0,
    })
  }

  /**
   * Extends the journal's index. After a kill the next supervisor truncates this file and at once extends it again: on a
   * full disk the freed space must last until then, although other processes take it at the same time. The descriptor
   * stays open while the database is: closing it would release SQLite's locks on the index.
   */
  #reserveIndex(size: number): void {
    this.#index ??= fs.openSync(indexOf(this.#file), 'r+')
    // Extends the file without gaps: SQLite maps it into memory, and a page without space on the disk would kill us.
    for (let end = fs.fstatSync(this.#index).size; end < size; )
      end += fs.writeSync(this.#index, Buffer.alloc(BALLAST), 0, BALLAST, end)
  }

  #dropBallast(): void {
    this.#transactWithoutSync(() => this.#sql.dropBallast.run())
  }

  #hasReserved(size: number): boolean {
    const { free } = countPages(this.#database)
    const journal = fs.statSync(journalOf(this.#file), { throwIfNoEntry: false })?.size ?? 0
    return free * PAGE_SIZE >= size && journal >= size
  }

  close(): void {
    this.#database.close()
    if (this.#index !== undefined) fs.closeSync(this.#index)
    this.#index = undefined
  }

  /** Runs a transaction that is not worth an fsync. */
  #transactWithoutSync(work: () => void): void {
    this.#withoutSync(() => this.#transact(work))
  }

  #withoutSync(write: () => void): void {
    this.#database.exec('PRAGMA synchronous = NORMAL')
    try {
      write()
    } finally {
      this.#database.exec('PRAGMA synchronous = FULL')
    }
  }

  /**
   * Runs a transaction. On a full disk, restarts the journal at its beginning, within its present size, and then
   * retries with the reserve.
   */
  #transact(work: () => void): void {
    try {
      this.#tryTransaction(work)
    } catch (cause) {
      if (!isDiskFull(cause)) throw cause
      this.#reserve.retryAfterRelease(() => {
        restartJournal(this.#database)
        this.#tryTransaction(work)
      })
    }
  }

  #tryTransaction(work: () => void): void {
    this.#sql.begin.run()
    try {
      this.assertEpoch()
      work()
      this.#sql.commit.run()
    } catch (cause) {
      if (this.#database.isTransaction) this.#sql.rollback.run()
      throw cause
    }
  }

  #storedEpoch(): number {
    return Number((this.#sql.epoch.get() as { value: string }).value)
  }
}

function restartJournal(database: Database): void {
  try {
    database.exec('PRAGMA wal_checkpoint(RESTART)')
  } catch {
    // The database itself may lack the space for the journal's content: the reserve remains.
  }
}

/** Identifies the database file: one that was moved aside keeps its epoch but no longer counts. */
function readInode(file: string): number | undefined {
  return fs.statSync(file, { throwIfNoEntry: false })?.ino
}

/** Closing this descriptor releases no lock: SQLite holds none on its journal. */
async function syncFile(file: string): Promise<void> {
  const opened = await fs.promises.open(file, 'r+')
  try {
    await opened.datasync()
  } finally {
    await opened.close()
  }
}

function statements(database: Database) {
  return {
    begin: database.prepare('BEGIN IMMEDIATE'),
    commit: database.prepare('COMMIT'),
    rollback: database.prepare('ROLLBACK'),
    putBallast: database.prepare(`INSERT OR REPLACE INTO meta VALUES (?, zeroblob(?))`),
    dropBallast: database.prepare(`DELETE FROM meta WHERE key GLOB 'ballast*'`),
    epoch: database.prepare(`SELECT value FROM meta WHERE key = 'epoch'`),
    addEvent: database.prepare('INSERT INTO events (session_id, at, type, body) VALUES (?, ?, ?, ?)'),
    addEffect: database.prepare('INSERT INTO outbox (session_id, effect) VALUES (?, ?)'),
    session: database.prepare('SELECT state FROM sessions WHERE id = ?'),
    any: database.prepare('SELECT 1 FROM sessions LIMIT 1'),
    all: database.prepare('SELECT state FROM sessions ORDER BY created_at DESC'),
    live: database.prepare('SELECT state FROM sessions WHERE is_live = 1 ORDER BY created_at'),
    pending: database.prepare('SELECT seq, session_id, effect FROM outbox ORDER BY seq'),
    pendingOf: database.prepare('SELECT seq, session_id, effect FROM outbox WHERE session_id = ? ORDER BY seq'),
    settle: database.prepare('DELETE FROM outbox WHERE seq = ?'),
    nextDue: database.prepare('SELECT MIN(due) AS due FROM sessions WHERE due IS NOT NULL'),
    due: database.prepare('SELECT id FROM sessions WHERE due <= ? ORDER BY due'),
    events: database.prepare('SELECT seq, body FROM events WHERE session_id = ? ORDER BY seq'),
    dropSession: database.prepare('DELETE FROM sessions WHERE id = ?'),
    dropEvents: database.prepare('DELETE FROM events WHERE session_id = ?'),
    dropEffects: database.prepare('DELETE FROM outbox WHERE session_id = ?'),
  }
}
