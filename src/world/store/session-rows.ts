import { sessionDueAt, type Session } from '../../core/session/session-state.ts'
import type { Database } from '../../os/sqlite.ts'
import { indexRow, PUT_INDEX_ROW } from './index-table.ts'
import { decodeSession, encodeSession } from './stored-records.ts'

/** Writes the record of a session, and its row in the index. */
export class SessionWriter {
  readonly #put: ReturnType<Database['prepare']>
  readonly #putIndexRow: ReturnType<Database['prepare']>

  constructor(database: Database) {
    this.#put = database.prepare(
      `INSERT INTO sessions (id, name, is_live, due, created_at, state) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET name = excluded.name, is_live = excluded.is_live, due = excluded.due, state = excluded.state`,
    )
    this.#putIndexRow = database.prepare(PUT_INDEX_ROW)
  }

  /** Runs within the caller's transaction. */
  put(session: Session): void {
    const { id, name, createdAt } = session.spec
    const isLive = session.phase.name === 'ended' ? 0 : 1
    this.#put.run(id, name, isLive, sessionDueAt(session), createdAt, encodeSession(session))
    this.#putIndexRow.run(...indexRow(session))
  }
}

export function parseSessions(rows: unknown[]): Session[] {
  return (rows as { state: string }[]).map(row => decodeSession(row.state))
}
