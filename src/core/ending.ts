import { formatDuration, type Instant } from '../lib/time.ts'
import type { Event } from './events.ts'
import { withFreshThread } from './fresh-thread.ts'
import { describeExit, type EndVerdict, judgeEnd } from './judge-end.ts'
import { judgeOutage } from './judge-outage.ts'
import { judgeRestart } from './judge-restart.ts'
import { firstUnread, launch } from './launch.ts'
import { rememberLastWord, rememberLife } from './living.ts'
import type { Rules } from './rules.ts'
import {
  type Aftermath,
  deadlineOf,
  type In,
  isIdle,
  type Outcome,
  rested,
  type Session,
  type Thread,
} from './session.ts'
import type { SignalOf } from './signals.ts'
import { hasSpent, judgeBudget } from './spending.ts'
import { nothing, type Step, step } from './step.ts'

/** The agent is dead. Nothing follows before its whole tree is gone. */
export function sweepAndJudge(session: Session, signal: SignalOf<'process.died'>, rules: Rules): Step {
  const { at, attempt, exit, chance } = signal
  const verdict = judgeEnd(session.spec.proof, exit, session.lastWord)
  const isOutage = verdict.kind === 'outage'
  const isLost = verdict.kind === 'thread-spent' && !verdict.isFull
  const dead: Session = {
    ...session,
    exit,
    isTurnOver: verdict.kind === 'done' || verdict.kind === 'failed',
    outages: isOutage ? session.outages + 1 : session.outages,
    thread: isLost ? { ...session.thread, losses: session.thread.losses + 1 } : session.thread,
  }
  const spent = session.spending.attempt
  return sweep(dead, at, aftermathOf(verdict, session, at, chance), rules, [
    { at, type: 'attempt.ended', attempt, exit, ...(hasSpent(spent) && { spent }) },
  ])
}

function aftermathOf(verdict: EndVerdict, session: Session, now: Instant, chance: number): Aftermath {
  const { reason } = verdict
  switch (verdict.kind) {
    case 'done':
    case 'failed':
      return { kind: 'end', outcome: verdict.kind, reason }
    case 'budget':
      return { kind: 'end', outcome: 'stopped', reason }
    case 'crashed':
      return afterCrash(session, reason, now, chance)
    case 'thread-spent':
      // A conversation is not given up on one failure to resume it, which may pass.
      return afterCrash(session, reason, now, chance, verdict.isFull || session.thread.losses > 0 ? 'new' : 'same')
    case 'outage': {
      const until = judgeOutage({ ...verdict, inARow: session.outages }, now, chance)
      return { kind: 'rest', until, reason, cause: verdict.isLimit ? 'limit' : 'outage', thread: 'same' }
    }
    case 'blocked':
      return { kind: 'block', reason, question: verdict.remedy === null ? reason : `${reason} (${verdict.remedy})` }
  }
}

function afterCrash(
  session: Session,
  reason: string,
  now: Instant,
  chance: number,
  thread: 'same' | 'new' = 'same',
): Aftermath {
  const { restart, limits } = session.spec
  const overspent = judgeBudget(limits, session.spending)
  if (overspent !== null) return { kind: 'end', outcome: 'stopped', reason: overspent }
  const verdict = judgeRestart(restart, session.restarts, now, chance)
  if (verdict.kind === 'restart') return { kind: 'rest', until: verdict.at, reason, cause: 'crash', thread }
  const history = `${restart.limit} restarts within ${formatDuration(restart.window)} did not help`
  return { kind: 'end', outcome: 'gave-up', reason: `${history}; the last attempt: ${reason}` }
}

export function tryLaterOrGiveUp(session: Session, signal: SignalOf<'launch.failed'>, rules: Rules): Step {
  const { at, attempt, reason, chance } = signal
  const next = afterCrash(session, `could not start: ${reason}`, at, chance)
  return sweep(session, at, next, rules, [{ at, type: 'attempt.failed-to-start', attempt, reason }])
}

export function sweepUnstarted(session: In<'stopping'>, { at }: SignalOf<'launch.failed'>, rules: Rules): Step {
  const { step: reached, next } = session.phase
  if (reached === 'sweep' || reached === 'kill') return nothing(session)
  return sweep(session, at, next, rules)
}

export function sweepAfterStop(session: In<'stopping'>, signal: SignalOf<'process.died'>, rules: Rules): Step {
  if (session.exit !== null) return nothing(session)
  const { at, attempt, exit } = signal
  const { next } = session.phase
  const word = next.kind === 'end' && next.outcome === 'stopped' ? `${next.reason} (${describeExit(exit)})` : null
  const named: Aftermath = word === null || next.kind !== 'end' ? next : { ...next, reason: word }
  return sweep({ ...session, exit }, at, named, rules, [{ at, type: 'attempt.ended', attempt, exit }])
}

/** A terminal's last words arrive after the death they explain: what follows from it is judged again. */
export function reconsider(session: In<'stopping'>, signal: SignalOf<'agent.finished'>): Step {
  const heard = rememberLastWord(session, signal)
  const { exit, phase, spec } = session
  const isDecidedByUs = phase.next.kind === 'end' && phase.next.outcome === 'stopped'
  if (exit === null || isDecidedByUs) return heard
  const verdict = judgeEnd(spec.proof, exit, signal.word)
  if (verdict.kind !== 'done' && verdict.kind !== 'failed') return heard
  const next: Aftermath = { kind: 'end', outcome: verdict.kind, reason: verdict.reason }
  return { ...heard, session: { ...heard.session, isTurnOver: true, phase: { ...phase, next } } }
}

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

export function relaunchOrEnd(session: In<'resting'>, { at }: SignalOf<'clock.due'>): Step {
  const deadline = deadlineOf(session)
  if (deadline !== null && at >= deadline) {
    return end(session, at, 'stopped', `the time limit of ${formatDuration(session.spec.maxTime ?? 0)} was reached`)
  }
  if (at < session.phase.until) return nothing(session)
  const { cause } = session.phase
  const woken = rested(session, at)
  return launch(cause === 'crash' ? { ...woken, restarts: [...woken.restarts, at] } : woken, at)
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
  if (at < phase.due) return nothing(session)
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

function sweep(session: Session, at: Instant, next: Aftermath, rules: Rules, events: readonly Event[] = []): Step {
  const due = at + rules.sweepPatience
  const { attempt } = session
  return step({ ...session, phase: { name: 'stopping', step: 'sweep', due, next } }, events, [
    { type: 'sweep', attempt },
  ])
}

/** Nothing of the attempt is left: what was decided at its death follows now. */
export function conclude(session: In<'stopping'>, { at }: SignalOf<'tree.gone'>): Step {
  const { next } = session.phase
  switch (next.kind) {
    case 'end':
      return goesOn(session, next.outcome) ? launch(session, at) : end(session, at, next.outcome, next.reason)
    case 'next':
      return launch({ ...session, isTurnOver: true, clockSince: at }, at)
    case 'block': {
      const { question } = next
      return step({ ...session, life: null, phase: { name: 'blocked', since: at, question } }, [
        { at, type: 'session.blocked', question },
      ])
    }
    case 'rest': {
      const until = Math.max(next.until, at)
      const { reason, cause } = next
      const resting: Session = { ...session, life: null, phase: { name: 'resting', since: at, until, reason, cause } }
      const events: Event[] = [{ at, type: 'session.resting', until, reason }]
      return next.thread === 'same' ? step(resting, events) : giveThreadUp(resting, at, reason, events)
    }
  }
}

/** A turn has ended and the next message waits. What the agent could not even read would not be helped by another. */
function goesOn(session: Session, outcome: Outcome): boolean {
  const hasRead = session.errand?.isConfirmed === true
  const isOver = outcome === 'done' || outcome === 'failed'
  const isAffordable = judgeBudget(session.spec.limits, session.spending) === null
  return isOver && hasRead && isAffordable && session.wanted === 'run' && firstUnread(session) !== undefined
}

function giveThreadUp(session: Session, at: Instant, reason: string, events: readonly Event[]): Step {
  const { id } = session.thread
  return step(withFreshThread(session, at), [{ at, type: 'thread.given-up', thread: id, reason }, ...events])
}

export function end(session: Session, at: Instant, outcome: Outcome, reason: string): Step {
  const ended: Session = { ...session, phase: { name: 'ended', at, outcome, reason } }
  return step(ended, [{ at, type: 'session.ended', outcome, reason }], [{ type: 'close' }])
}
