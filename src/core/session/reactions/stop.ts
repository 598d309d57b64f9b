import type { Instant } from '../../../lib/time.ts'
import { blockIdle, endSession, timeLimitReached } from './finish.ts'
import { isClockRolledBack } from '../../policy/restart-schedule.ts'
import { recordProcess } from './attempt.ts'
import type { Timings } from '../defaults.ts'
import { type NextStep, sessionDeadline, type SessionIn, isIdle, excludeWaitingTime, type Session } from '../session.ts'
import type { SignalOf } from '../signals.ts'
import { unchanged, type Decision, makeDecision } from '../decision.ts'

export function stopSession(session: Session, { at, isNow, by }: SignalOf<'user.stop'>, timings: Timings): Decision {
  if (isIdle(session))
    return endSession(markStopWanted(session, by), at, stoppedBy(by, ` while it was ${session.phase.name}`))
  const wanted = markStopWanted(session, by)
  const next: NextStep = { kind: 'end', ...stoppedBy(by) }
  return isNow
    ? killTree(excludeWaitingTime(wanted, at), at, next, timings)
    : interruptAndStop(wanted, at, next, timings)
}

function killTree(session: Session, at: Instant, next: NextStep, timings: Timings): Decision {
  const phase = { name: 'stopping', step: 'kill', due: at + timings.sweepPatience, next } as const
  return makeDecision(
    { ...session, phase },
    [{ at, type: 'session.stopping', step: 'kill', reason: next.reason }],
    [{ type: 'kill', attempt: session.attempt }],
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
  if (phase.step === 'prove')
    return endSession(markStopWanted(session, by), at, stoppedBy(by, ' while oneshot checked its work'))
  if (session.wanted === 'stop' || phase.next.kind === 'end') return unchanged(markStopWanted(session, by))
  const next: NextStep = { kind: 'end', ...stoppedBy(by) }
  return makeDecision({ ...markStopWanted(session, by), phase: { ...phase, next } }, [
    { at, type: 'session.stopping', step: phase.step, reason: next.reason },
  ])
}

/** Pauses the session until somebody resumes it, and ends its live processes. */
export function holdSession(session: Session, { at, reason }: SignalOf<'user.hold'>, timings: Timings): Decision {
  const held = { question: reason, trouble: 'held' } as const
  if (!isIdle(session)) return interruptAndStop(session, at, { kind: 'block', reason, ...held }, timings)
  const { phase } = session
  return phase.name === 'blocked' && phase.trouble === 'held' ? unchanged(session) : blockIdle(session, at, held)
}

export function holdWhileStopping(session: SessionIn<'stopping'>, { at, reason }: SignalOf<'user.hold'>): Decision {
  const { phase } = session
  if (phase.next.kind === 'end' || phase.next.kind === 'block') return unchanged(session)
  const next: NextStep = { kind: 'block', question: reason, reason, trouble: 'held' }
  return makeDecision({ ...session, phase: { ...phase, next } }, [
    { at, type: 'session.stopping', step: phase.step, reason },
  ])
}

export function enforceDeadline(session: Session, { at }: SignalOf<'clock.due'>, timings: Timings): Decision {
  const deadline = sessionDeadline(session)
  if (deadline === null || at < deadline) return unchanged(session)
  return interruptAndStop(session, at, { kind: 'end', ...timeLimitReached(session) }, timings)
}

export function interruptAndStop(session: Session, at: Instant, next: NextStep, timings: Timings): Decision {
  const phase = { name: 'stopping', step: 'interrupt', due: at + timings.interruptGrace, next } as const
  return makeDecision(
    { ...excludeWaitingTime(session, at), phase },
    [{ at, type: 'session.stopping', step: 'interrupt', reason: next.reason }],
    [{ type: 'interrupt', attempt: session.attempt }],
  )
}

/** Repeats the interrupt: the first one came before the process lived. */
export function interruptLateStart(session: SessionIn<'stopping'>, signal: SignalOf<'attempt.started'>): Decision {
  const started = recordProcess(session, signal)
  const isNews = started.events.length > 0 && session.phase.step === 'interrupt'
  return isNews ? { ...started, effects: [{ type: 'interrupt', attempt: session.attempt }] } : started
}

/** Takes the next, harder step, because the process is still alive after the wait. */
export function escalateStop(
  session: SessionIn<'stopping'>,
  { at }: SignalOf<'clock.due'>,
  timings: Timings,
): Decision {
  const { phase, attempt } = session
  if (phase.step === 'prove') return unchanged(session) // The verifier has a limit of its own.
  if (at < phase.due && !isClockRolledBack(session, at, timings)) return unchanged(session)
  const reason = phase.next.reason
  if (phase.step === 'interrupt') {
    const next = { ...phase, step: 'terminate', due: at + timings.terminateGrace } as const
    return makeDecision(
      { ...session, phase: next },
      [{ at, type: 'session.stopping', step: 'terminate', reason }],
      [{ type: 'terminate', attempt }],
    )
  }
  return killTree(session, at, phase.next, timings)
}
