import { formatDuration, type Instant } from '../lib/time.ts'
import type { Event } from './events.ts'
import { take } from './hearing.ts'
import { describeExit, type EndVerdict, judgeEnd } from './judge-end.ts'
import { judgeOutage } from './judge-outage.ts'
import { judgeRestart } from './judge-restart.ts'
import { rememberLastWord } from './living.ts'
import type { Rules } from './rules.ts'
import type { Aftermath, In, LastWord, Session, Spec } from './session.ts'
import type { SignalOf } from './signals.ts'
import { hasSpent, judgeBudget } from './spending.ts'
import { nothing, type Step, step } from './step.ts'

/**
 * The agent is dead. Nothing follows before its whole tree is gone. One that left nothing behind and is to be started again
 * at once is not swept first: that it is gone is the next thing to be seen.
 */
export function sweepAndJudge(session: Session, signal: SignalOf<'process.died'>, rules: Rules): Step {
  const { at, attempt, exit, chance, isAlone } = signal
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
  const next = aftermathOf(verdict, session, at, chance)
  const swept = sweep(dead, at, next, rules, [
    { at, type: 'attempt.ended', attempt, exit, ...(hasSpent(spent) && { spent }) },
  ])
  return isAlone && next.kind === 'rest' && next.until <= at ? { ...swept, effects: [] } : swept
}

function aftermathOf(verdict: EndVerdict, session: Session, now: Instant, chance: number): Aftermath {
  const { reason } = verdict
  switch (verdict.kind) {
    case 'failed':
      if (isTriedAgain(session.spec)) return afterCrash(session, reason, now, chance)
      return { kind: 'end', outcome: 'failed', reason }
    case 'done':
      return { kind: 'end', outcome: 'done', reason }
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

/** An agent that says it failed would fail again; whether a command would, its user may know. */
function isTriedAgain({ proof, restart }: Spec): boolean {
  return proof === 'exit-code' && restart.on === 'failure'
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
  return judgeAgain(session, heard, signal.word, signal.at)
}

/** The same for a turn that began after the last one had ended: it died in the middle of that. */
export function takeLate(session: In<'stopping'>, signal: SignalOf<'agent.told'>): Step {
  const heard = take(session, signal)
  const { next } = session.phase
  const isJudgedByWord = next.kind === 'end' && (next.outcome === 'done' || next.outcome === 'failed')
  return signal.news.type === 'began' && isJudgedByWord ? judgeAgain(session, heard, null, signal.at) : heard
}

/** A stop that was asked for meanwhile stays one, unless the work turns out to be over. */
function judgeAgain(session: In<'stopping'>, heard: Step, word: LastWord | null, at: Instant): Step {
  const { exit, phase, spec, wanted } = session
  const isDecidedByUs = phase.next.kind === 'next' || (phase.next.kind === 'end' && phase.next.outcome === 'stopped')
  if (exit === null || isDecidedByUs || spec.proof === 'exit-code') return heard
  const verdict = judgeEnd(spec.proof, exit, word)
  const isTurnOver = verdict.kind === 'done' || verdict.kind === 'failed'
  const next: Aftermath =
    wanted === 'stop' && !isTurnOver
      ? { kind: 'end', outcome: 'stopped', reason: 'stopped by you' }
      : aftermathOf(verdict, session, at, 0)
  return { ...heard, session: { ...heard.session, isTurnOver, phase: { ...phase, next } } }
}

function sweep(session: Session, at: Instant, next: Aftermath, rules: Rules, events: readonly Event[] = []): Step {
  const due = at + rules.sweepPatience
  const { attempt } = session
  return step({ ...session, phase: { name: 'stopping', step: 'sweep', due, next } }, events, [
    { type: 'sweep', attempt },
  ])
}
