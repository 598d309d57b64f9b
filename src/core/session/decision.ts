import type { Event } from './events.ts'
import type { Session } from './session.ts'

/** A decision: the session as it is now, what became true, and what must be done. */
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

/** Whether recording this step would change anything. */
export function isUnchanged(step: Decision, before: Session): boolean {
  return step.session === before && step.events.length === 0 && step.effects.length === 0
}

/** What must be done in the world. Recorded before it is performed, and safe to perform again. */
export type Effect =
  | { readonly type: 'launch'; readonly attempt: number }
  | { readonly type: 'interrupt'; readonly attempt: number }
  | { readonly type: 'terminate'; readonly attempt: number }
  /** End whatever is left of the attempt's tree, politely first; `kill` is not polite. */
  | { readonly type: 'sweep'; readonly attempt: number }
  | { readonly type: 'kill'; readonly attempt: number }
  /** Close the session's panes; its files stay. */
  | { readonly type: 'close' }

export type EffectType = Effect['type']
