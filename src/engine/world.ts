import type { Event } from '../core/events.ts'
import type { Rules } from '../core/rules.ts'
import type { Session } from '../core/session.ts'
import type { Agent } from '../ports/agent.ts'
import type { Checkpoints } from '../ports/checkpoints.ts'
import type { Clock } from '../ports/clock.ts'
import type { Hooks, Notifier } from '../ports/notifier.ts'
import type { Store } from '../ports/store.ts'
import type { Tracker } from '../ports/tracker.ts'
import type { Witness } from '../ports/witness.ts'
import type { Work } from '../ports/work.ts'

/** All that the engine acts upon. */
export interface World {
  readonly store: Store
  readonly work: Work
  readonly clock: Clock
  readonly agents: (kind: string) => Agent
  readonly rules: Rules
  readonly notifier: Notifier
  readonly hooks: Hooks
  readonly checkpoints: Checkpoints
  readonly tracker: Tracker
  readonly witness: Witness
  /** Notes something for whoever reads the supervisor's log. */
  readonly say: (sentence: string) => void
  /** Told of what went wrong while performing; the effect stays pending and is tried again. */
  readonly onTrouble: (sessionId: string, cause: unknown) => void
  /** Told of what was recorded. Nothing depends on its listening. */
  readonly onEvent?: (session: Session, event: Event) => void
}
