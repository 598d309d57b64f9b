import type { ThreadId } from '../core/session/conversation.ts'
import type { Effect } from '../core/session/decision.ts'
import type { Event } from '../core/session/events.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import type { Session } from '../core/session/session-state.ts'
import type { Decision } from '../core/session/decision.ts'
import type { Instant } from '../lib/time.ts'
import type { NotificationStore, Outgoing } from './notifications.ts'

/** An effect that is recorded and not yet settled. */
export interface PendingEffect {
  readonly key: string
  readonly sessionId: SessionId
  readonly effect: Effect
}

export interface StoredEvent {
  readonly seq: number
  readonly sessionId: SessionId
  readonly event: Event
}

/** Another supervisor has taken over. A caller that catches this error must stop acting at once. */
export class Superseded extends Error {
  override readonly name = 'Superseded'
}

/**
 * The authoritative record of all sessions. Every writing call is one transaction that also checks the epoch, throws
 * `Superseded` if a later supervisor has started, and is durable when it returns.
 */
export interface Store {
  /** The epoch of this store's writes. Each start of a supervisor raises it. */
  readonly epoch: number
  /** Throws `Superseded` unless we are still the one supervisor. The engine calls it before each effect. */
  assertEpoch(): void
  /** The unsettled notices and hooks. */
  readonly notifications: NotificationStore
  /**
   * Records a step: the session, its events, its pending effects, its notices and hooks. Records all of it or nothing.
   */
  record(step: Decision, outgoing?: Outgoing): void
  load(id: SessionId): Session | undefined
  /** Returns every session ever made, newest first: its cost grows with their number. */
  all(): Session[]
  live(): Session[]
  count(): { readonly live: number; readonly ended: number }
  /** Returns the live sessions, and the ended ones that may have open work. */
  unsettled(): Iterable<Session>
  /**
   * Records that these ended sessions have no open work. The next record of such a session makes it unsettled again.
   */
  markSettled(ids: readonly SessionId[]): void
  /** Returns true when a session, live or ended, has this name. */
  isNameUsed(name: string): boolean
  /** Returns true when a session other than `except` has this conversation. */
  isThreadUsed(thread: ThreadId, options: { readonly except: SessionId }): boolean
  /** Returns the session that its parent started under this key. */
  findChild(parentId: SessionId, key: string): Session | undefined
  /** Returns a session with its owners and all sessions that these own. The owner is the session that started it. */
  family(id: SessionId): Session[]
  /** Yields the sessions of a folder, that which began or woke last first. */
  inFolder(cwd: string): Iterable<Session>
  /**
   * Returns settled sessions that ended before this time, the oldest end first. Excludes workers whose parent still
   * exists, because the parent may read them.
   */
  removable(endedBefore: Instant, limit: number): SessionId[]
  /**
   * Returns the unsettled effects of one session, in the order of their decisions; of all sessions if none is named.
   */
  pendingEffects(sessionId?: SessionId): PendingEffect[]
  /** Records that the engine performed the effect, or no longer needs it. */
  settleEffect(key: string): void
  /** Returns the earliest alarm of all sessions. */
  nextDue(): Instant | undefined
  /** Returns the sessions whose alarm is due. */
  dueSessions(now: Instant): SessionId[]
  events(sessionId: SessionId): StoredEvent[]
  /** Deletes a session and everything that belongs to it, except its unsent notices. */
  remove(id: SessionId): void
  close(): void
}
