import type { ThreadId } from '../../core/session/conversation.ts'
import { isSessionId, type SessionId } from '../../core/session/session-id-and-name.ts'
import type { Instant } from '../../lib/time.ts'
import type { Database } from '../../os/sqlite.ts'

/** The part of a store that finds sessions by their facts, each with one search in an index. */
export class SessionIndex {
  readonly #sql: ReturnType<typeof statements>

  constructor(database: Database) {
    this.#sql = statements(database)
  }

  /** Runs within the caller's transaction, as does `remove`. */
  settle(id: SessionId): void {
    this.#sql.settle.run(id)
  }

  remove(id: SessionId): void {
    this.#sql.remove.run(id)
  }

  count(): { live: number; ended: number } {
    const { live } = this.#sql.countLive.get() as { live: number }
    const { ended } = this.#sql.countEnded.get() as { ended: number }
    return { live, ended }
  }

  isNameUsed(name: string): boolean {
    return this.#sql.named.get(name) !== undefined
  }

  isThreadUsed(thread: ThreadId, exceptId: SessionId): boolean {
    return this.#sql.threaded.get(thread, exceptId) !== undefined
  }

  childId(parentId: SessionId, key: string): SessionId | undefined {
    return ids(this.#sql.child.all(parentId, key))[0]
  }

  unsettledIds(): SessionId[] {
    return ids(this.#sql.unsettled.all())
  }

  familyIds(id: SessionId): SessionId[] {
    return ids(this.#sql.family.all(id))
  }

  idsInFolder(cwd: string): SessionId[] {
    return ids(this.#sql.inFolder.all(cwd))
  }

  removableIds(at: Instant, limit: number): SessionId[] {
    return ids(this.#sql.endedBefore.all(at, limit))
  }
}

/** Skips a text that is not an id. */
function ids(rows: unknown[]): SessionId[] {
  return (rows as { id: string }[]).map(({ id }) => id).filter(isSessionId)
}

function statements(database: Database) {
  return {
    settle: database.prepare('UPDATE session_index SET is_settled = 1 WHERE id = ? AND ended_at IS NOT NULL'),
    remove: database.prepare('DELETE FROM session_index WHERE id = ?'),
    countLive: database.prepare('SELECT count(*) AS live FROM session_index WHERE ended_at IS NULL'),
    countEnded: database.prepare('SELECT count(*) AS ended FROM session_index WHERE ended_at IS NOT NULL'),
    named: database.prepare('SELECT 1 FROM session_index WHERE name = ? LIMIT 1'),
    threaded: database.prepare('SELECT 1 FROM session_index WHERE thread = ? AND id <> ? LIMIT 1'),
    child: database.prepare('SELECT id FROM session_index WHERE parent = ? AND parent_key = ?'),
    unsettled: database.prepare('SELECT id FROM session_index WHERE is_settled = 0 ORDER BY created_at'),
    // UNION drops rows that are already known, so a circle of owners ends.
    family: database.prepare(
      `WITH RECURSIVE
         line (id, owner) AS (
           SELECT id, owner FROM session_index WHERE id = ?
           UNION SELECT s.id, s.owner FROM line JOIN session_index s ON s.id = line.owner
         ),
         family (id) AS (
           SELECT id FROM line
           UNION SELECT s.id FROM family JOIN session_index s ON s.owner = family.id
         )
       SELECT s.id FROM family JOIN session_index s USING (id) ORDER BY s.created_at DESC`,
    ),
    inFolder: database.prepare('SELECT id FROM session_index WHERE cwd = ? ORDER BY begun_at DESC'),
    endedBefore: database.prepare(
      `SELECT id FROM session_index s WHERE ended_at IS NOT NULL AND ended_at < ? AND is_settled = 1
         AND (parent IS NULL OR NOT EXISTS (SELECT 1 FROM session_index p WHERE p.id = s.parent))
       ORDER BY ended_at LIMIT ?`,
    ),
  }
}
