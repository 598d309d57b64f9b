import { errorMessage } from '../../../lib/errors.ts'
import { type Database, openForReading, repeatRead } from '../../../os/sqlite.ts'
import { countPages, PAGE_SIZE } from './compaction.ts'

/** Bytes. SQLite checks a database of this size in 50 ms; a larger one would delay each start. */
const FULL_CHECK_SIZE = 64 * 1_048_576
/** The tables that hold open work. They stay small. */
const WORK_TABLES = ['meta', 'outbox', 'hooks', 'deliveries']

/**
 * Checks at the start of a supervisor, through the connection that stays open: closing a second one would remove the
 * journal. Of a large database it checks only the tables with open work; `oneshot doctor` checks the others.
 */
export function assertIntegrity(database: Database): void {
  const isSmall = countPages(database).all * PAGE_SIZE <= FULL_CHECK_SIZE
  for (const subject of isSmall ? ['1'] : WORK_TABLES) {
    const row = database.prepare(`PRAGMA quick_check(${subject})`).get() as { quick_check: string }
    if (row.quick_check !== 'ok') throw new Error(`integrity: ${row.quick_check}`)
  }
}

/**
 * Checks every page, row and index. Returns the first damage, or undefined. `onTable` is told the table before SQLite
 * checks it; other work runs between two tables.
 */
export async function findDamage(file: string, onTable: (table: string) => void): Promise<string | undefined> {
  const database = openForReading(file)
  try {
    const select = `SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`
    const rows = repeatRead(() => database.prepare(select).all())
    for (const { name } of rows as { name: string }[]) {
      onTable(name)
      await new Promise(resolve => setImmediate(resolve))
      const pragma = `PRAGMA integrity_check(${name})`
      const check = repeatRead(() => database.prepare(pragma).get()) as { integrity_check: string }
      if (check.integrity_check !== 'ok') return check.integrity_check
    }
    return undefined
  } catch (cause) {
    if (isCorruption(cause)) return errorMessage(cause)
    throw cause
  } finally {
    database.close()
  }
}

/** Returns true when the content of a database is damaged: another error may end by itself. */
export function isCorruption(cause: unknown): boolean {
  return /malformed|not a database|corrupt|integrity/.test(errorMessage(cause))
}
