import type { Event } from './events.ts'
import type { Session } from './session-state.ts'

/** A decision: the new session, the facts that became true, and the effects to perform. */
export interface Decision {
  readonly session: Session
  readonly events: readonly Event[]
  readonly effects: readonly Effect[]
}

export function makeDecision(session: Session, events: readonly Event[], effects: readonly Effect[] = []): Decision {
  return { session, events, effects }
}

export function unchanged(session: Session): Decision {
  return { session, events: [], effects: [] }
}

/** Returns true if recording this step would change nothing. */
export function isUnchanged(step: Decision, before: Session): boolean {
  return step.session === before && step.events.length === 0 && step.effects.length === 0
}

/**
 * An action on the outside world. The store records it before the engine performs it, and the engine may perform it
 * again.
 */
export type Effect =
  | { readonly type: 'launch'; readonly attempt: number }
  | { readonly type: 'interrupt'; readonly attempt: number }
  | { readonly type: 'terminate'; readonly attempt: number }
  /** `sweep` ends all that is left of the attempt's tree and asks the processes first; `kill` does not ask. */
  | { readonly type: 'sweep'; readonly attempt: number }
  | { readonly type: 'kill'; readonly attempt: number }
  /** Closes the session's panes; its files stay. */
  | { readonly type: 'close' }

export type EffectType = Effect['type']
