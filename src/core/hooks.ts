import type { Instant } from '../lib/time.ts'
import type { Event } from './events.ts'
import { tellingId } from './notices.ts'
import type { Outcome, Session } from './session.ts'

/** A program that is to be run because a session has ended. */
export interface HookCall {
  /** The same however often it is run: a repetition can be known by it. */
  readonly id: string
  readonly at: Instant
  readonly argv: readonly string[]
  readonly outcome: Outcome
  readonly reason: string
  /** The session as it had ended: it may be woken or removed before its hook is run. */
  readonly session: Session
}

/** What is to be run after a step. */
export function hooksOf(session: Session, events: readonly Event[]): HookCall[] {
  const { id, onExit: argv } = session.spec
  if (argv === undefined) return []
  return events.flatMap(event => {
    if (event.type !== 'session.ended') return []
    const { at, outcome, reason } = event
    return [{ id: tellingId(id, at, 'on-exit'), at, argv, outcome, reason, session }]
  })
}
