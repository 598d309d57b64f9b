import type { Event } from '../core/session/events.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import type { Timings } from '../core/session/supervisor-timings.ts'
import type { Session } from '../core/session/session-state.ts'
import type { Agent } from '../ports/agent.ts'
import type { Checkpoints } from '../ports/checkpoints.ts'
import type { Clock } from '../ports/clock.ts'
import type { HookRunner, Notifier } from '../ports/notifications.ts'
import type { Store } from '../ports/store.ts'
import type { Tracker } from '../ports/tracker.ts'
import type { WorkInspector } from '../ports/checks.ts'
import type { Runtime } from '../ports/runtime.ts'

/** Holds the ports and settings through which the engine acts. */
export interface EngineContext {
  readonly store: Store
  readonly runtime: Runtime
  readonly clock: Clock
  readonly agents: (kind: string) => Agent
  readonly timings: Timings
  readonly notifier: Notifier
  readonly hooks: HookRunner
  readonly checkpoints: Checkpoints
  readonly tracker: Tracker
  readonly workInspector: WorkInspector
  /** Writes a sentence to the supervisor's log. */
  readonly log: (sentence: string) => void
  /**
   * The engine calls this when an effect fails. The effect stays pending, and the engine tries it again. `subject` is the
   * id of a session, the key of a background job, or empty. `doing` names the failed action on a session, for the count
   * of failures in a row; background services do not give it.
   */
  readonly onTrouble: (subject: string, cause: unknown, doing?: string) => void
  /** The engine calls this when it has observed a session and performed all its pending effects. */
  readonly onSuccess?: (sessionId: SessionId) => void
  /** The engine calls this after it has recorded an event. No behaviour depends on a listener. */
  readonly onEvent?: (session: Session, event: Event) => void
}
