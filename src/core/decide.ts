import { REACTIONS } from './reactions.ts'
import type { Rules } from './rules.ts'
import { wantCheckpoint } from './saving.ts'
import type { Session } from './session.ts'
import type { Signal } from './signals.ts'
import { nothing, type Step } from './step.ts'

/**
 * The behaviour of a session: what follows from what was seen. Pure.
 * A signal about an attempt that is not the current one is late, and decides nothing.
 */
export function decide(session: Session, signal: Signal, rules: Rules): Step {
  if ('attempt' in signal && signal.attempt !== session.attempt) return nothing(session)
  const react = REACTIONS[session.phase.name][signal.type] as (s: Session, g: Signal, r: Rules) => Step
  return wantCheckpoint(react(session, signal, rules), session)
}
