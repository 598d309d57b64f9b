import type { Event } from '../../src/core/session/events.ts'
import type { HookCall } from '../../src/core/notify/notice.ts'
import type { Notice } from '../../src/core/notify/notice.ts'
import type { Instant } from '../../src/lib/time.ts'
import type { DeliveryResult, Delivery, NotificationStore, Outgoing } from '../../src/ports/notifications.ts'
import type { DeliveryRow, InMemoryDisk, NoticeRow } from './disk.ts'

/** Stores notices on a disk in memory. */
export class InMemoryNotificationStore implements NotificationStore {
  readonly #disk: InMemoryDisk
  readonly #assertEpoch: () => void

  constructor(disk: InMemoryDisk, assertEpoch: () => void) {
    this.#disk = disk
    this.#assertEpoch = assertEpoch
  }

  add({ notices, hooks }: Outgoing): void {
    const disk = this.#disk
    for (const notice of notices) {
      const row = { id: notice.id, body: JSON.stringify(notice), isAddressed: false }
      if (!disk.notices.some(({ id }) => id === notice.id)) disk.notices.push(row)
    }
    for (const call of hooks) {
      if (!disk.hooks.some(({ id }) => id === call.id)) disk.hooks.push({ id: call.id, body: JSON.stringify(call) })
    }
  }

  unrouted(): Notice[] {
    return this.#disk.notices.filter(row => !row.isAddressed).map(parseNotice)
  }

  noticesSince(sessionId: string, at: Instant): Notice[] {
    return this.#disk.notices.map(parseNotice).filter(notice => notice.session.id === sessionId && notice.at >= at)
  }

  route(noticeId: string, channels: readonly string[], due: Instant): void {
    this.#assertEpoch()
    const row = this.#disk.notices.find(({ id, isAddressed }) => id === noticeId && !isAddressed)
    if (row === undefined) return
    row.isAddressed = true
    for (const channel of channels) {
      const key = String(++this.#disk.seq)
      this.#disk.deliveries.push({ key, noticeId, channel, due, tries: 0, state: 'pending', remark: '' })
    }
  }

  pendingDeliveries(): Delivery[] {
    return this.#disk.notices.flatMap(row =>
      this.#pendingRows()
        .filter(({ noticeId }) => noticeId === row.id)
        .map(({ key, channel, due, tries }) => ({ key, channel, notice: parseNotice(row), due, tries })),
    )
  }

  settleDeliveries(keys: readonly string[], { state, remark }: DeliveryResult): void {
    this.#assertEpoch()
    for (const row of this.#pendingRows()) if (keys.includes(row.key)) Object.assign(row, { state, remark })
  }

  postpone(channel: string, until: Instant, failed?: { keys: readonly string[]; at: Instant; remark: string }): void {
    this.#assertEpoch()
    for (const row of this.#pendingRows()) {
      if (failed?.keys.includes(row.key)) Object.assign(row, { tries: row.tries + 1, remark: failed.remark })
      if (row.channel === channel) row.due = Math.max(row.due, until)
    }
  }

  retryNow(channel: string, at: Instant): void {
    this.#assertEpoch()
    for (const row of this.#pendingRows()) if (row.channel === channel) row.due = Math.min(row.due, at)
  }

  pendingHooks(): HookCall[] {
    return this.#disk.hooks.map(({ body }) => JSON.parse(body) as HookCall)
  }

  settleHook(call: HookCall, event: Event): void {
    this.#assertEpoch()
    const disk = this.#disk
    const sessionId = call.session.spec.id
    const isThere = disk.hooks.some(({ id }) => id === call.id)
    disk.hooks = disk.hooks.filter(({ id }) => id !== call.id)
    if (!isThere || !disk.sessions.has(sessionId)) return
    disk.events.push({ seq: ++disk.seq, sessionId, body: JSON.stringify(event) })
  }

  deleteBefore(before: Instant): void {
    this.#assertEpoch()
    const waiting = new Set(this.#pendingRows().map(({ noticeId }) => noticeId))
    const isKept = (row: NoticeRow): boolean => !row.isAddressed || waiting.has(row.id) || parseNotice(row).at >= before
    this.#disk.notices = this.#disk.notices.filter(isKept)
    const kept = new Set(this.#disk.notices.map(({ id }) => id))
    this.#disk.deliveries = this.#disk.deliveries.filter(({ noticeId }) => kept.has(noticeId))
  }

  #pendingRows(): DeliveryRow[] {
    return this.#disk.deliveries.filter(({ state }) => state === 'pending')
  }
}

function parseNotice({ body }: NoticeRow): Notice {
  return JSON.parse(body) as Notice
}
