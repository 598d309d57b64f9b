import type { Instant } from '../../../lib/time.ts'
import { blockSession, endSession, timeLimitReached } from './finish.ts'
import { isClockRolledBack } from '../../policy/restart-schedule.ts'
import { recordProcess } from './attempt-start-and-turn.ts'
import type { Timings } from '../supervisor-timings.ts'
import {
  type NextStep,
  sessionDeadline,
  type SessionIn,
  type FinishingSession,
  type IdleSession,
  excludeWaitingTime,
  type Session,
} from '../session-state.ts'
import type { SignalOf } from '../signals.ts'
import { unchanged, type Decision, makeDecision } from '../decision.ts'

export function stopSession(session: Session, { at, isNow, by }: SignalOf<'user.stop'>, timings: Timings): Decision {
  const wanted = markStopWanted(session, by)
  const next: NextStep = { kind: 'end', ...stoppedBy(by) }
  return isNow
    ? killTree(excludeWaitingTime(wanted, at), at, next, timings)
    : interruptAndStop(wanted, at, next, timings)
}

/** Ends a session at once, because it has no process. */
export function stopIdle(session: IdleSession, { at, by }: SignalOf<'user.stop'>): Decision {
  return endSession(markStopWanted(session, by), at, stoppedBy(by, ` while it was ${session.phase.name}`))
}

function killTree(session: Session, at: Instant, next: NextStep, timings: Timings): Decision {
  const phase = { name: 'stopping', step: 'kill', due: at + timings.sweepPatience, next } as const
  return makeDecision(
    { ...session, phase },
    [{ at, type: 'session.stopping', step: 'kill', reason: next.reason }],
    [{ type: 'kill', attempt: session.attempt.number }],
  )
}

/** Records who asked for the stop; the first requester counts. */
function markStopWanted<S extends Session>(session: S, by: string | undefined): S {
  const isFirst = session.wanted !== 'stop' && by !== undefined
  return { ...session, wanted: 'stop', ...(isFirst && { stoppedBy: by }) }
}

export function stoppedBy(by?: string, how = ''): { outcome: 'stopped'; reason: string; trouble: 'stopped' } {
  return { outcome: 'stopped', reason: `stopped by ${describeRequester(by)}${how}`, trouble: 'stopped' }
}

/** Names the session, or the user. */
export function describeRequester(by: string | undefined): string {
  return by === undefined ? 'you' : `the session ${by}`
}

/** A stop that arrives while the supervisor ends an attempt replaces the next step, unless the work is over. */
export function stopWhileStopping(
  session: SessionIn<'stopping'>,
  { at, isNow, by }: SignalOf<'user.stop'>,
  timings: Timings,
): Decision {
  const { phase } = session
  if (isNow && (phase.step === 'interrupt' || phase.step === 'terminate')) {
    const next: NextStep = phase.next.kind === 'end' ? phase.next : { kind: 'end', ...stoppedBy(by) }
    return killTree(markStopWanted(session, by), at, next, timings)
  }
  if (session.wanted === 'stop' || phase.next.kind === 'end') return unchanged(markStopWanted(session, by))
  const next: NextStep = { kind: 'end', ...stoppedBy(by) }
  return makeDecision({ ...markStopWanted(session, by), phase: { ...phase, next } }, [
    { at, type: 'session.stopping', step: phase.step, reason: next.reason },
  ])
}

/** Ends the session without waiting for the verifier, which may take long. */
export function stopWhileVerifying(session: SessionIn<'verifying'>, { at, by }: SignalOf<'user.stop'>): Decision {
  return endSession(markStopWanted(session, by), at, stoppedBy(by, ' while oneshot checked its work'))
}

/** Ends the live processes of the session, and pauses it until somebody resumes it. */
export function holdSession(session: Session, { at, reason }: SignalOf<'user.hold'>, timings: Timings): Decision {
  return interruptAndStop(session, at, { kind: 'block', question: reason, reason, trouble: 'held' }, timings)
}

/** Pauses a session without a process until somebody resumes it. */
export function blockOnRequest(session: IdleSession, { at, reason }: SignalOf<'user.hold'>): Decision {
  const { phase } = session
  const isHeld = phase.name === 'blocked' && phase.trouble === 'held'
  return isHeld ? unchanged(session) : blockSession(session, at, { question: reason, trouble: 'held' })
}

/** Pauses the session after the end of its attempt or its verification, unless it ends then. */
export function holdAtNextStep(session: FinishingSession, { at, reason }: SignalOf<'user.hold'>): Decision {
  const { phase } = session
  if (phase.next.kind === 'end' || phase.next.kind === 'block') return unchanged(session)
  const next: NextStep = { kind: 'block', question: reason, reason, trouble: 'held' }
  const step = phase.name === 'verifying' ? 'prove' : phase.step
  return makeDecision({ ...session, phase: { ...phase, next } }, [{ at, type: 'session.stopping', step, reason }])
}

export function enforceDeadline(session: Session, { at }: SignalOf<'clock.due'>, timings: Timings): Decision {
  const deadline = sessionDeadline(session)
  if (deadline === null || at < deadline) return unchanged(session)
  return interruptAndStop(session, at, { kind: 'end', ...timeLimitReached(session) }, timings)
}

export function interruptAndStop(session: Session, at: Instant, next: NextStep, timings: Timings): Decision {
  const phase = {
    name: 'stopping',
    step: 'interrupt',
    due: at + (session.spec.supervision.stopGrace ?? timings.interruptGrace),
    next,
  } as const
  return makeDecision(
    { ...excludeWaitingTime(session, at), phase },
    [{ at, type: 'session.stopping', step: 'interrupt', reason: next.reason }],
    [{ type: 'interrupt', attempt: session.attempt.number }],
  )
}

/** Repeats the interrupt: the first one came before the process lived. */
export function interruptLateStart(session: SessionIn<'stopping'>, signal: SignalOf<'attempt.started'>): Decision {
  const started = recordProcess(session, signal)
  const isNews = started.events.length > 0 && session.phase.step === 'interrupt'
  return isNews ? { ...started, effects: [{ type: 'interrupt', attempt: session.attempt.number }] } : started
}

/** Takes the next, harder step, because the process is still alive after the wait. */
export function escalateStop(
  session: SessionIn<'stopping'>,
  { at }: SignalOf<'clock.due'>,
  timings: Timings,
): Decision {
  const { phase } = session
  if (at < phase.due && !isClockRolledBack(session, at, timings)) return unchanged(session)
  return phase.step === 'interrupt'
    ? terminateAttempt(session, at, timings)
    : killTree(session, at, phase.next, timings)
}

function terminateAttempt(session: SessionIn<'stopping'>, at: Instant, timings: Timings): Decision {
  const phase = { ...session.phase, step: 'terminate', due: at + timings.terminateGrace } as const
  return makeDecision(
    { ...session, phase },
    [{ at, type: 'session.stopping', step: 'terminate', reason: phase.next.reason }],
    [{ type: 'terminate', attempt: session.attempt.number }],
  )
}

/**
 * Terminates an agent that was interrupted because of its budget, and starts more work all the same: each further turn
 * would cost money. Output from before the interrupt may arrive after it, so the agent has a moment.
 */
export function enforceInterrupt(session: SessionIn<'stopping'>, at: Instant, timings: Timings): Decision | null {
  const { phase, spec } = session
  const interruptedAt = phase.due - (spec.supervision.stopGrace ?? timings.interruptGrace)
  const isOverspent = phase.next.kind === 'end' && phase.next.trouble === 'budget'
  const isIgnored = isOverspent && phase.step === 'interrupt' && at >= interruptedAt + timings.ignoredInterrupt
  return isIgnored ? terminateAttempt(session, at, timings) : null
}
