import { dueOf, type Session } from '../../core/session.ts'
import type { Step } from '../../core/step.ts'
import type { Instant } from '../../lib/time.ts'
import { NO_TIDINGS, type NoticeBox, type Tidings } from '../../ports/notice-box.ts'
import { type Pending, type Store, type StoredEvent, Superseded } from '../../ports/store.ts'
import type { Disk } from './disk.ts'
import { MemoryNotices } from './memory-notices.ts'

/** A store on a disk in memory. Opening a second one on the same disk supersedes the first. */
export class MemoryStore implements Store {
  readonly epoch: number
  notices: NoticeBox
  readonly #disk: Disk
  readonly #box: MemoryNotices

  constructor(disk: Disk) {
    this.#disk = disk
    this.epoch = ++disk.epoch
    this.#box = new MemoryNotices(disk, () => this.assertEpoch())
    this.notices = this.#box
  }

  assertEpoch(): void {
    const { epoch } = this.#disk
    if (epoch !== this.epoch) throw new Superseded(`epoch ${epoch} has begun; this is epoch ${this.epoch}`)
  }

  record({ session, events, effects }: Step, tidings: Tidings = NO_TIDINGS): void {
    this.assertEpoch()
    const disk = this.#disk
    const sessionId = session.spec.id
    const line = (value: unknown) => ({ seq: ++disk.seq, sessionId, body: JSON.stringify(value) })
    disk.sessions.set(sessionId, JSON.stringify(session))
    disk.events.push(...events.map(line))
    disk.outbox.push(...effects.map(line))
    this.#box.add(tidings)
  }

  load(id: string): Session | undefined {
    const text = this.#disk.sessions.get(id)
    return text === undefined ? undefined : (JSON.parse(text) as Session)
  }

  all(): Session[] {
    return this.#sessions().sort((a, b) => b.spec.createdAt - a.spec.createdAt)
  }

  live(): Session[] {
    const live = this.#sessions().filter(session => session.phase.name !== 'ended')
    return live.sort((a, b) => a.spec.createdAt - b.spec.createdAt)
  }

  pending(sessionId?: string): Pending[] {
    return this.#disk.outbox
      .filter(item => sessionId === undefined || item.sessionId === sessionId)
      .map(item => ({ key: String(item.seq), sessionId: item.sessionId, effect: JSON.parse(item.body) }))
  }

  settle(key: string): void {
    this.assertEpoch()
    this.#disk.outbox = this.#disk.outbox.filter(item => item.seq !== Number(key))
  }

  nextDue(): Instant | undefined {
    const dues = this.#sessions().flatMap(session => dueOf(session) ?? [])
    return dues.length === 0 ? undefined : Math.min(...dues)
  }

  due(now: Instant): string[] {
    return this.#sessions()
      .map(session => ({ id: session.spec.id, due: dueOf(session) ?? Number.POSITIVE_INFINITY }))
      .filter(({ due }) => due <= now)
      .sort((a, b) => a.due - b.due)
      .map(({ id }) => id)
  }

  events(sessionId: string): StoredEvent[] {
    return this.#disk.events
      .filter(item => item.sessionId === sessionId)
      .map(item => ({ seq: item.seq, sessionId, event: JSON.parse(item.body) }))
  }

  remove(id: string): void {
    this.assertEpoch()
    const disk = this.#disk
    disk.sessions.delete(id)
    disk.events = disk.events.filter(item => item.sessionId !== id)
    disk.outbox = disk.outbox.filter(item => item.sessionId !== id)
  }

  close(): void {
    // There is nothing to give back: the disk stays.
  }

  #sessions(): Session[] {
    return [...this.#disk.sessions.values()].map(text => JSON.parse(text) as Session)
  }
}
