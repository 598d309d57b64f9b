import fs from 'node:fs'
import { isDiskFull } from '../../../lib/errors.ts'
import { type Database, journalOf } from '../../../os/sqlite.ts'

/** Bytes in a page of the database. */
export const PAGE_SIZE = 4096
/** Bytes. SQLite empties its journal at half of this size, unless a reader prevents it. */
export const MAX_JOURNAL_SIZE = 8 * 1_048_576
/** Pages that one step returns to the file system. A step takes about a millisecond, and 20 at most. */
const STEP = 256
/** Steps of one run: 64 MB. */
const MAX_STEPS = 64
/** Pages that stay free: the reserve for a full disk, twice. */
const KEPT_PAGES = 512
/** One page in this many stays free as well, so that new sessions need not extend the file again. */
const KEPT_SHARE = 10
/** Bytes. A smaller file without small steps stays as it is. */
const MIN_REWRITE_SIZE = 64 * 1_048_576

export interface CompactionContext {
  readonly database: Database
  readonly file: string
  /** Runs a transaction of the present supervisor; another one that has taken over makes it throw. */
  readonly transact: (work: () => void) => void
  /** Returns true when the disk has many times this number of free bytes. */
  readonly hasRoomFor: (bytes: number) => boolean
  /** Returns true when no session lives. */
  readonly isIdle: () => boolean
}

export function countPages(database: Database): { all: number; free: number } {
  const { page_count: all } = database.prepare('PRAGMA page_count').get() as { page_count: number }
  const { freelist_count: free } = database.prepare('PRAGMA freelist_count').get() as { freelist_count: number }
  return { all, free }
}

/**
 * Returns space to the file system: that of the journal, and that of removed sessions. A kill does no harm, because each
 * step is a transaction. On a full disk it does nothing: the free pages serve as a reserve there.
 */
export async function compact(context: CompactionContext): Promise<void> {
  try {
    shrinkJournal(context)
    if (hasSmallSteps(context.database)) await releasePages(context)
    else rewriteIfWorthwhile(context)
  } catch (cause) {
    if (!isDiskFull(cause)) throw cause
  }
}

/**
 * Empties a journal that a long reader has let grow. Waits for nobody: while the reader still reads, the journal stays.
 * SQLite truncates the empty journal to `journal_size_limit` with the next transaction.
 */
function shrinkJournal({ database, file, transact }: CompactionContext): void {
  const size = fs.statSync(journalOf(file), { throwIfNoEntry: false })?.size ?? 0
  if (size <= MAX_JOURNAL_SIZE) return
  if (!emptyJournal(database)) return
  // SQLite writes no page for a row that gets the value that it has.
  transact(() => database.exec(`INSERT INTO meta VALUES ('ballast', ''); DELETE FROM meta WHERE key = 'ballast'`))
}

/** Copies the journal's pages to the database. Returns false if a reader prevents a part of it. */
function emptyJournal(database: Database): boolean {
  const result = database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get() as { log: number; checkpointed: number }
  return result.checkpointed === result.log
}

function hasSmallSteps(database: Database): boolean {
  const { auto_vacuum: mode } = database.prepare('PRAGMA auto_vacuum').get() as { auto_vacuum: number }
  return mode === 2
}

async function releasePages({ database, transact, hasRoomFor }: CompactionContext): Promise<void> {
  const hasExcess = (): boolean => {
    const { all, free } = countPages(database)
    return free - KEPT_PAGES - all / KEPT_SHARE >= STEP && hasRoomFor(STEP * PAGE_SIZE)
  }
  let steps = 0
  for (; steps < MAX_STEPS && hasExcess(); steps++) {
    transact(() => void database.prepare(`PRAGMA incremental_vacuum(${STEP})`).all())
    await new Promise(resolve => setImmediate(resolve))
  }
  if (steps > 0) emptyJournal(database) // SQLite truncates the file only now.
}

/**
 * Rewrites a database of an earlier version, once: afterwards it has small steps. Everything waits meanwhile, 6 ms for
 * each MB that remains, so no session may live.
 */
function rewriteIfWorthwhile({ database, hasRoomFor, isIdle }: CompactionContext): void {
  const { all, free } = countPages(database)
  const isWorthwhile = all * PAGE_SIZE > MIN_REWRITE_SIZE && free > all / 2
  if (isWorthwhile && isIdle() && hasRoomFor((all - free) * PAGE_SIZE)) database.exec('VACUUM')
}
