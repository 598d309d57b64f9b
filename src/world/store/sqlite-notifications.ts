import type { Event } from '../../core/session/events.ts'
import type { HookCall } from '../../core/notify/notice.ts'
import type { Notice } from '../../core/notify/notice.ts'
import type { SessionId } from '../../core/session/session-id-and-name.ts'
import type { Instant } from '../../lib/time.ts'
import type { DeliveryResult, Delivery, NotificationStore, Outgoing } from '../../ports/notifications.ts'
import type { Database } from '../../os/sqlite.ts'
import { decodeHookCall, decodeNotice } from './stored-records.ts'

/**
 * Writes without fsync: after a power cut, a lost write only repeats a notification. Only `add` is durable, as part of
 * the transaction of its decision.
 */
export class SqliteNotifications implements NotificationStore {
  readonly #sql: ReturnType<typeof statements>
  readonly #transaction: (work: () => void) => void

  constructor(database: Database, transaction: (work: () => void) => void) {
    this.#sql = statements(database)
    this.#transaction = transaction
  }

  /** Runs within the caller's transaction. */
  add({ notices, hooks }: Outgoing): void {
    for (const notice of notices)
      this.#sql.addNotice.run(notice.id, notice.session.id, notice.at, JSON.stringify(notice))
    for (const call of hooks) this.#sql.addHook.run(call.id, call.session.spec.id, JSON.stringify(call))
  }

  unrouted(): Notice[] {
    return readBodies(this.#sql.unaddressed.all(), decodeNotice)
  }

  noticesSince(sessionId: SessionId, at: Instant): Notice[] {
    return readBodies(this.#sql.since.all(sessionId, at), decodeNotice)
  }

  route(noticeId: string, channels: readonly string[], due: Instant): void {
    this.#transaction(() => {
      const row = this.#sql.fresh.get(noticeId) as { seq: number } | undefined
      if (row === undefined) return
      for (const channel of channels) this.#sql.addDelivery.run(row.seq, channel, due)
      this.#sql.addressed.run(row.seq)
    })
  }

  pendingDeliveries(): Delivery[] {
    const rows = this.#sql.pending.all() as (Omit<Delivery, 'key' | 'notice'> & { seq: number; body: string })[]
    return rows.map(({ seq, channel, due, tries, body }) => {
      return { key: String(seq), channel, notice: decodeNotice(body), due, tries }
    })
  }

  settleDeliveries(keys: readonly string[], { at, state, remark }: DeliveryResult): void {
    this.#transaction(() => {
      for (const key of keys) this.#sql.settle.run(state, at, remark, Number(key))
    })
  }

  postpone(channel: string, until: Instant, failed?: { keys: readonly string[]; at: Instant; remark: string }): void {
    this.#transaction(() => {
      for (const key of failed?.keys ?? []) this.#sql.failed.run(failed?.at ?? null, failed?.remark ?? '', Number(key))
      this.#sql.postpone.run(until, channel, until)
    })
  }

  retryNow(channel: string, at: Instant): void {
    this.#transaction(() => this.#sql.hurry.run(at, channel, at))
  }

  pendingHooks(): HookCall[] {
    return readBodies(this.#sql.hooks.all(), decodeHookCall)
  }

  settleHook(call: HookCall, event: Event): void {
    const { id } = call.session.spec
    this.#transaction(() => {
      if (this.#sql.dropHook.run(call.id).changes === 0) return
      this.#sql.addEvent.run(id, event.at, event.type, JSON.stringify(event), id)
    })
  }

  deleteBefore(before: Instant): void {
    this.#transaction(() => this.#sql.forget.run(before))
  }
}

function readBodies<T>(rows: unknown[], decode: (text: string) => T): T[] {
  return (rows as { body: string }[]).map(row => decode(row.body))
}

function statements(database: Database) {
  return {
    addNotice: database.prepare('INSERT OR IGNORE INTO notices (id, session_id, at, body) VALUES (?, ?, ?, ?)'),
    addHook: database.prepare('INSERT OR IGNORE INTO hooks (id, session_id, body) VALUES (?, ?, ?)'),
    unaddressed: database.prepare('SELECT body FROM notices WHERE is_addressed = 0 ORDER BY seq'),
    since: database.prepare('SELECT body FROM notices WHERE session_id = ? AND at >= ? ORDER BY seq'),
    fresh: database.prepare('SELECT seq FROM notices WHERE id = ? AND is_addressed = 0'),
    addDelivery: database.prepare('INSERT OR IGNORE INTO deliveries (notice, channel, due) VALUES (?, ?, ?)'),
    addressed: database.prepare('UPDATE notices SET is_addressed = 1 WHERE seq = ?'),
    pending: database.prepare(
      `SELECT d.seq, d.channel, d.due, d.tries, n.body FROM deliveries d JOIN notices n ON n.seq = d.notice
       WHERE d.state = 'pending' ORDER BY n.seq, d.seq`,
    ),
    settle: database.prepare(`UPDATE deliveries SET state = ?, at = ?, remark = ? WHERE seq = ? AND state = 'pending'`),
    failed: database.prepare(
      `UPDATE deliveries SET tries = tries + 1, at = ?, remark = ? WHERE seq = ? AND state = 'pending'`,
    ),
    postpone: database.prepare(`UPDATE deliveries SET due = ? WHERE channel = ? AND state = 'pending' AND due < ?`),
    hurry: database.prepare(`UPDATE deliveries SET due = ? WHERE channel = ? AND state = 'pending' AND due > ?`),
    hooks: database.prepare('SELECT body FROM hooks ORDER BY seq'),
    dropHook: database.prepare('DELETE FROM hooks WHERE id = ?'),
    addEvent: database.prepare(
      `INSERT INTO events (session_id, at, type, body)
       SELECT ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM sessions WHERE id = ?)`,
    ),
    forget: database.prepare(
      `DELETE FROM notices WHERE at < ? AND is_addressed = 1
       AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.notice = notices.seq AND d.state = 'pending')`,
    ),
  }
}
