import type { Effect } from './effects.ts'
import type { Event } from './events.ts'
import type { Session } from './session.ts'

/** A decision: the session as it is now, what became true, and what must be done. */
export interface Step {
  readonly session: Session
  readonly events: readonly Event[]
  readonly effects: readonly Effect[]
}

export function step(session: Session, events: readonly Event[], effects: readonly Effect[] = []): Step {
  return { session, events, effects }
}

export function nothing(session: Session): Step {
  return { session, events: [], effects: [] }
}

/** Whether recording this step would change anything. */
export function isNothing(step: Step, before: Session): boolean {
  return step.session === before && step.events.length === 0 && step.effects.length === 0
}
