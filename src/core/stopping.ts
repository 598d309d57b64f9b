import { formatDuration, type Instant } from '../lib/time.ts'
import { end } from './concluding.ts'
import { isSetBack } from './is-set-back.ts'
import { rememberLife } from './living.ts'
import type { Rules } from './rules.ts'
import { type Aftermath, deadlineOf, type In, isIdle, type Session } from './session.ts'
import type { SignalOf } from './signals.ts'
import { nothing, type Step, step } from './step.ts'

export function stop(session: Session, { at }: SignalOf<'user.stop'>, rules: Rules): Step {
  if (isIdle(session)) return end(session, at, 'stopped', `stopped by you while it was ${session.phase.name}`)
  return bringDown(
    { ...session, wanted: 'stop' },
    at,
    { kind: 'end', outcome: 'stopped', reason: 'stopped by you' },
    rules,
  )
}

/** A stop that comes while an attempt is being cleared away decides what comes after it, unless the work is over. */
export function stopInstead(session: In<'stopping'>, { at }: SignalOf<'user.stop'>): Step {
  const { phase } = session
  if (session.wanted === 'stop' || phase.next.kind === 'end') return nothing({ ...session, wanted: 'stop' })
  const next: Aftermath = { kind: 'end', outcome: 'stopped', reason: 'stopped by you' }
  return step({ ...session, wanted: 'stop', phase: { ...phase, next } }, [
    { at, type: 'session.stopping', step: phase.step, reason: next.reason },
  ])
}

export function enforceDeadline(session: Session, { at }: SignalOf<'clock.due'>, rules: Rules): Step {
  const deadline = deadlineOf(session)
  if (deadline === null || at < deadline) return nothing(session)
  const reason = `the time limit of ${formatDuration(session.spec.maxTime ?? 0)} was reached`
  if (isIdle(session)) return end(session, at, 'stopped', reason)
  return bringDown(session, at, { kind: 'end', outcome: 'stopped', reason }, rules)
}

export function bringDown(session: Session, at: Instant, next: Aftermath & { kind: 'end' }, rules: Rules): Step {
  const phase = { name: 'stopping', step: 'interrupt', due: at + rules.interruptGrace, next } as const
  return step(
    { ...session, phase },
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
  const next = { ...phase, step: 'kill', due: at + rules.sweepPatience } as const
  return step(
    { ...session, phase: next },
    [{ at, type: 'session.stopping', step: 'kill', reason }],
    [{ type: 'kill', attempt }],
  )
}
