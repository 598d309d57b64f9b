import type { Event } from '../core/session/events.ts'
import type { Timings } from '../core/session/defaults.ts'
import type { Session } from '../core/session/session.ts'
import type { Agent } from '../ports/agent.ts'
import type { Checkpoints } from '../ports/checkpoints.ts'
import type { Clock } from '../ports/clock.ts'
import type { HookRunner, Notifier } from '../ports/notifications.ts'
import type { Store } from '../ports/store.ts'
import type { Tracker } from '../ports/tracker.ts'
import type { WorkInspector } from '../ports/checks.ts'
import type { Runtime } from '../ports/runtime.ts'

/** All that the engine acts upon. */
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
  /** Notes something for whoever reads the supervisor's log. */
  readonly log: (sentence: string) => void
  /** Told of what went wrong while performing; the effect stays pending and is tried again. */
  readonly onTrouble: (sessionId: string, cause: unknown) => void
  /** Told of what was recorded. Nothing depends on its listening. */
  readonly onEvent?: (session: Session, event: Event) => void
}
