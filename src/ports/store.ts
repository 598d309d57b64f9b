import type { Effect } from '../core/session/decision.ts'
import type { Event } from '../core/session/events.ts'
import type { Session } from '../core/session/session.ts'
import type { Decision } from '../core/session/decision.ts'
import type { Instant } from '../lib/time.ts'
import type { NotificationStore, Outgoing } from './notifications.ts'

/** An effect that was decided and not yet settled. */
export interface PendingEffect {
  readonly key: string
  readonly sessionId: string
  readonly effect: Effect
}

export interface StoredEvent {
  readonly seq: number
  readonly sessionId: string
  readonly event: Event
}

/** Another supervisor has taken over: whoever catches this must stop acting at once. */
export class Superseded extends Error {
  override readonly name = 'Superseded'
}

/**
 * The truth about sessions. Every writing call is one transaction that also checks the epoch, throws `Superseded`
 * when a later supervisor has started, and is durable when it returns.
 */
export interface Store {
  /** The epoch this store writes with. Raised at each start of a supervisor. */
  readonly epoch: number
  /** Throws `Superseded` unless we are still the one supervisor. Asked before each deed. */
  assertEpoch(): void
  /** Notices and hooks on their way. */
  readonly notifications: NotificationStore
  /** Records a step: the session, its events, its effects as pending, and what is to be told of it. All of it or nothing. */
  record(step: Decision, outgoing?: Outgoing): void
  load(id: string): Session | undefined
  all(): Session[]
  live(): Session[]
  /** Unsettled effects of one session in the order they were decided; of all sessions when none is named. */
  pendingEffects(sessionId?: string): PendingEffect[]
  /** The effect was performed, or no longer needs to be. */
  settleEffect(key: string): void
  /** The earliest alarm of any session. */
  nextDue(): Instant | undefined
  /** Sessions whose alarm has rung. */
  dueSessions(now: Instant): string[]
  events(sessionId: string): StoredEvent[]
  /** Forgets a session and all that belongs to it. What is still to be told of it stays. */
  remove(id: string): void
  close(): void
}
