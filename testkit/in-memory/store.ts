import type { SessionId } from '../../src/core/session/session-id-and-name.ts'
import { sessionDueAt, type Session } from '../../src/core/session/session-state.ts'
import type { Decision } from '../../src/core/session/decision.ts'
import type { Instant } from '../../src/lib/time.ts'
import { NOTHING_OUTGOING, type NotificationStore, type Outgoing } from '../../src/ports/notifications.ts'
import { type PendingEffect, type Store, type StoredEvent, Superseded } from '../../src/ports/store.ts'
import type { InMemoryDisk } from './disk.ts'
import { InMemoryNotificationStore } from './notification-store.ts'

/** A store on a disk in memory. Opening a second store on the same disk supersedes the first. */
export class InMemoryStore implements Store {
  readonly epoch: number
  notifications: NotificationStore
  readonly #disk: InMemoryDisk
  readonly #box: InMemoryNotificationStore

  constructor(disk: InMemoryDisk) {
    this.#disk = disk
    this.epoch = ++disk.epoch
    this.#box = new InMemoryNotificationStore(disk, () => this.assertEpoch())
    this.notifications = this.#box
  }

  assertEpoch(): void {
    const { epoch } = this.#disk
    if (epoch !== this.epoch) throw new Superseded(`epoch ${epoch} has begun; this is epoch ${this.epoch}`)
  }

  record({ session, events, effects }: Decision, outgoing: Outgoing = NOTHING_OUTGOING): void {
    this.assertEpoch()
    const disk = this.#disk
    const sessionId = session.spec.id
    const line = (value: unknown) => ({ seq: ++disk.seq, sessionId, body: JSON.stringify(value) })
    disk.sessions.set(sessionId, JSON.stringify(session))
    disk.settled.delete(sessionId)
    disk.events.push(...events.map(line))
    disk.outbox.push(...effects.map(line))
    this.#box.add(outgoing)
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

  count(): { live: number; ended: number } {
    const live = this.live().length
    return { live, ended: this.#disk.sessions.size - live }
  }

  unsettled(): Session[] {
    return this.all()
      .reverse()
      .filter(({ spec }) => !this.#disk.settled.has(spec.id))
  }

  markSettled(ids: readonly string[]): void {
    this.assertEpoch()
    for (const id of ids) if (this.load(id)?.phase.name === 'ended') this.#disk.settled.add(id)
  }

  isNameUsed(name: string): boolean {
    return this.#sessions().some(({ spec }) => spec.name === name)
  }

  isThreadUsed(thread: string, { except }: { except: string }): boolean {
    return this.#sessions().some(session => session.thread.id === thread && session.spec.id !== except)
  }

  findChild(parentId: string, key: string): Session | undefined {
    return this.#sessions().find(({ spec: { parent } }) => parent?.id === parentId && parent.key === key)
  }

  family(id: string): Session[] {
    const sessions = this.all()
    const ownerOf = ({ spec }: Session): string | undefined => spec.startedBy ?? spec.parent?.id
    const family = new Set<string>()
    for (let next = this.load(id); next !== undefined && !family.has(next.spec.id); ) {
      family.add(next.spec.id)
      next = this.load(ownerOf(next) ?? '')
    }
    for (let size = 0; size !== family.size; ) {
      size = family.size
      for (const session of sessions) if (family.has(ownerOf(session) ?? '')) family.add(session.spec.id)
    }
    return sessions.filter(({ spec }) => family.has(spec.id))
  }

  inFolder(cwd: string): Session[] {
    return this.#sessions()
      .filter(({ spec }) => spec.cwd === cwd)
      .sort((a, b) => b.clockSince - a.clockSince)
  }

  removable(endedBefore: Instant, limit: number): SessionId[] {
    const ended = this.#sessions().flatMap(({ spec, phase }) =>
      phase.name === 'ended' && phase.at < endedBefore ? [{ id: spec.id, parent: spec.parent?.id, at: phase.at }] : [],
    )
    return ended
      .filter(({ id, parent }) => this.#disk.settled.has(id) && !this.#disk.sessions.has(parent ?? ''))
      .sort((a, b) => a.at - b.at)
      .slice(0, limit)
      .map(({ id }) => id)
  }

  pendingEffects(sessionId?: string): PendingEffect[] {
    return this.#disk.outbox
      .filter(item => sessionId === undefined || item.sessionId === sessionId)
      .map(item => ({ key: String(item.seq), sessionId: item.sessionId, effect: JSON.parse(item.body) }))
  }

  settleEffect(key: string): void {
    this.assertEpoch()
    this.#disk.outbox = this.#disk.outbox.filter(item => item.seq !== Number(key))
  }

  nextDue(): Instant | undefined {
    const dues = this.#sessions().flatMap(session => sessionDueAt(session) ?? [])
    return dues.length === 0 ? undefined : Math.min(...dues)
  }

  dueSessions(now: Instant): SessionId[] {
    return this.#sessions()
      .map(session => ({ id: session.spec.id, due: sessionDueAt(session) ?? Number.POSITIVE_INFINITY }))
      .filter(({ due }) => due <= now)
      .sort((a, b) => a.due - b.due)
      .map(({ id }) => id)
  }

  events(sessionId: SessionId): StoredEvent[] {
    return this.#disk.events
      .filter(item => item.sessionId === sessionId)
      .map(item => ({ seq: item.seq, sessionId, event: JSON.parse(item.body) }))
  }

  remove(id: string): void {
    this.assertEpoch()
    const disk = this.#disk
    disk.sessions.delete(id)
    disk.settled.delete(id)
    disk.events = disk.events.filter(item => item.sessionId !== id)
    disk.outbox = disk.outbox.filter(item => item.sessionId !== id)
  }

  close(): void {
    // There is nothing to release: the disk stays.
  }

  #sessions(): Session[] {
    return [...this.#disk.sessions.values()].map(text => JSON.parse(text) as Session)
  }
}
