import type { Instant } from '../lib/time.ts'
import { block, end, timeIsUp } from './concluding.ts'
import { isSetBack } from './is-set-back.ts'
import { rememberLife } from './living.ts'
import type { Rules } from './rules.ts'
import { type Aftermath, deadlineOf, type In, isIdle, rested, type Session } from './session.ts'
import type { SignalOf } from './signals.ts'
import { nothing, type Step, step } from './step.ts'

export function stop(session: Session, { at, isNow, by }: SignalOf<'user.stop'>, rules: Rules): Step {
  if (isIdle(session)) return end(wantedStopped(session, by), at, stopped(by, ` while it was ${session.phase.name}`))
  const wanted = wantedStopped(session, by)
  const next: Aftermath = { kind: 'end', ...stopped(by) }
  return isNow ? kill(rested(wanted, at), at, next, rules) : bringDown(wanted, at, next, rules)
}

function kill(session: Session, at: Instant, next: Aftermath, rules: Rules): Step {
  const phase = { name: 'stopping', step: 'kill', due: at + rules.sweepPatience, next } as const
  return step(
    { ...session, phase },
    [{ at, type: 'session.stopping', step: 'kill', reason: next.reason }],
    [{ type: 'kill', attempt: session.attempt }],
  )
}

/** Who wants it stopped is remembered with the wish; the first one counts. */
function wantedStopped<S extends Session>(session: S, by: string | undefined): S {
  const isFirst = session.wanted !== 'stop' && by !== undefined
  return { ...session, wanted: 'stop', ...(isFirst && { stoppedBy: by }) }
}

export function stopped(by?: string, how = ''): { outcome: 'stopped'; reason: string; trouble: 'stopped' } {
  return { outcome: 'stopped', reason: `stopped by ${whoIs(by)}${how}`, trouble: 'stopped' }
}

/** A session by its name, or the user. */
export function whoIs(by: string | undefined): string {
  return by === undefined ? 'you' : `the session ${by}`
}

/** A stop that comes while an attempt is being cleared away decides what comes after it, unless the work is over. */
export function stopInstead(session: In<'stopping'>, { at, isNow, by }: SignalOf<'user.stop'>, rules: Rules): Step {
  const { phase } = session
  if (isNow && (phase.step === 'interrupt' || phase.step === 'terminate')) {
    const next: Aftermath = phase.next.kind === 'end' ? phase.next : { kind: 'end', ...stopped(by) }
    return kill(wantedStopped(session, by), at, next, rules)
  }
  if (phase.step === 'prove') return end(wantedStopped(session, by), at, stopped(by, ' while oneshot checked its work'))
  if (session.wanted === 'stop' || phase.next.kind === 'end') return nothing(wantedStopped(session, by))
  const next: Aftermath = { kind: 'end', ...stopped(by) }
  return step({ ...wantedStopped(session, by), phase: { ...phase, next } }, [
    { at, type: 'session.stopping', step: phase.step, reason: next.reason },
  ])
}

/** It stands still until it is resumed; what lives of it is ended. */
export function hold(session: Session, { at, reason }: SignalOf<'user.hold'>, rules: Rules): Step {
  const held = { question: reason, trouble: 'held' } as const
  if (!isIdle(session)) return bringDown(session, at, { kind: 'block', reason, ...held }, rules)
  const { phase } = session
  return phase.name === 'blocked' && phase.trouble === 'held' ? nothing(session) : block(session, at, held)
}

export function holdInstead(session: In<'stopping'>, { at, reason }: SignalOf<'user.hold'>): Step {
  const { phase } = session
  if (phase.next.kind === 'end' || phase.next.kind === 'block') return nothing(session)
  const next: Aftermath = { kind: 'block', question: reason, reason, trouble: 'held' }
  return step({ ...session, phase: { ...phase, next } }, [{ at, type: 'session.stopping', step: phase.step, reason }])
}

export function enforceDeadline(session: Session, { at }: SignalOf<'clock.due'>, rules: Rules): Step {
  const deadline = deadlineOf(session)
  if (deadline === null || at < deadline) return nothing(session)
  return bringDown(session, at, { kind: 'end', ...timeIsUp(session) }, rules)
}

export function bringDown(session: Session, at: Instant, next: Aftermath, rules: Rules): Step {
  const phase = { name: 'stopping', step: 'interrupt', due: at + rules.interruptGrace, next } as const
  return step(
    { ...rested(session, at), phase },
    [{ at, type: 'session.stopping', step: 'interrupt', reason: next.reason }],
    [{ type: 'interrupt', attempt: session.attempt }],
  )
}

/** It was asked to stop before it lived, when nobody was there to hear it. */
export function interruptNewborn(session: In<'stopping'>, signal: SignalOf<'attempt.started'>): Step {
  const born = rememberLife(session, signal)
  const isNews = born.events.length > 0 && session.phase.step === 'interrupt'
  return isNews ? { ...born, effects: [{ type: 'interrupt', attempt: session.attempt }] } : born
}

/** Time passed and it is still not gone: the next, harder step. */
export function insist(session: In<'stopping'>, { at }: SignalOf<'clock.due'>, rules: Rules): Step {
  const { phase, attempt } = session
  if (phase.step === 'prove') return nothing(session) // Whoever looks at it has a limit of their own.
  if (at < phase.due && !isSetBack(session, at, rules)) return nothing(session)
  const reason = phase.next.reason
  if (phase.step === 'interrupt') {
    const next = { ...phase, step: 'terminate', due: at + rules.terminateGrace } as const
    return step(
      { ...session, phase: next },
      [{ at, type: 'session.stopping', step: 'terminate', reason }],
      [{ type: 'terminate', attempt }],
    )
  }
  return kill(session, at, phase.next, rules)
}
