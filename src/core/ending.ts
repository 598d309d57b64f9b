import type { Instant } from '../lib/time.ts'
import { afterCrash, aftermathOf } from './aftermath.ts'
import type { Event } from './events.ts'
import type { TroubleKind } from './failure.ts'
import { take } from './hearing.ts'
import { describeExit, type EndVerdict, judgeEnd } from './judge-end.ts'
import { rememberLastWord } from './living.ts'
import type { Rules } from './rules.ts'
import { type Aftermath, type In, type LastWord, rested, type Session } from './session.ts'
import type { SignalOf } from './signals.ts'
import { hasSpent } from './spending.ts'
import { nothing, type Step, step } from './step.ts'
import { stopped } from './stopping.ts'

/**
 * The agent is dead. Nothing follows before its whole tree is gone. One that left nothing behind and is to be started again
 * at once is not swept first: that it is gone is the next thing to be seen.
 */
export function sweepAndJudge(session: Session, signal: SignalOf<'process.died'>, rules: Rules): Step {
  const { at, attempt, exit, memory = null, isAlone } = signal
  const verdict = judgeEnd(session.spec.proof, { exit, word: session.lastWord, memory })
  const spent = session.spending.attempt
  const next = aftermathOf(verdict, session, signal)
  const idle = verdict.kind === 'rebooted' ? at - (signal.seenAt ?? at) : 0
  const counted = rested(session, at)
  const dead = { ...marked(counted, verdict, at), exit, clockSince: counted.clockSince + idle }
  const swept = sweep(dead, at, next, rules, [
    { at, type: 'attempt.ended', attempt, exit, ...(hasSpent(spent) && { spent }) },
  ])
  return isAlone && next.kind === 'rest' && next.until <= at ? { ...swept, effects: [] } : swept
}

/** What is remembered of how an attempt ended. */
function marked<S extends Session>(session: S, verdict: EndVerdict, at: Instant): S {
  const { outages, limitedSince, thread } = session
  const isOutage = verdict.kind === 'outage'
  const isLost = verdict.kind === 'thread-spent' && !verdict.isFull
  return {
    ...session,
    isTurnOver: isOver(verdict),
    outages: isOutage ? outages + 1 : outages,
    limitedSince: isOutage && verdict.isLimit ? (limitedSince ?? at) : limitedSince,
    thread: isLost ? { ...thread, losses: thread.losses + 1 } : thread,
  }
}

function isOver({ kind }: EndVerdict): boolean {
  return kind === 'done' || kind === 'failed'
}

export function tryLaterOrGiveUp(session: Session, signal: SignalOf<'launch.failed'>, rules: Rules): Step {
  const { at, attempt, reason } = signal
  const next = afterCrash(session, { reason: `could not start: ${reason}`, trouble: 'start' }, signal)
  return sweep(session, at, next, rules, [{ at, type: 'attempt.failed-to-start', attempt, reason }])
}

/** Nobody but a person can make it start. */
export function waitForHelp(
  session: Session,
  { at, attempt, question }: SignalOf<'launch.impossible'>,
  rules: Rules,
): Step {
  const next: Aftermath = { kind: 'block', question, reason: question, trouble: 'folder' }
  return sweep(session, at, next, rules, [{ at, type: 'attempt.failed-to-start', attempt, reason: question }])
}

/** It lives and does nothing: it is ended, and goes on in another attempt, unless its turn was over anyway. */
export function endHung(session: Session, signal: SignalOf<'agent.hung'>, rules: Rules): Step {
  const { at, evidence } = signal
  const { lastWord: word, spec } = session
  if (word === null) return endFor(session, signal, { reason: evidence, trouble: 'silence' }, rules)
  if (!word.ok) {
    // It has said why it failed, and only does not leave: what it said counts.
    const verdict = judgeEnd(spec.proof, { exit: { kind: 'vanished', evidence }, word })
    return sweep(marked(session, verdict, at), at, aftermathOf(verdict, session, signal), rules)
  }
  const reason = `the agent ended its turn; oneshot ended its process, because it was ${evidence}`
  return sweep({ ...session, isTurnOver: true }, at, { kind: 'end', outcome: 'done', reason, trouble: null }, rules)
}

export function endGreedy(session: Session, signal: SignalOf<'memory.exceeded'>, rules: Rules): Step {
  return endFor(session, signal, { reason: `out of memory: ${signal.evidence}`, trouble: 'memory' }, rules)
}

/** Another attempt would go on writing: a person decides. */
export function endVerbose(session: Session, { at, evidence }: SignalOf<'output.exceeded'>, rules: Rules): Step {
  const next: Aftermath = { kind: 'end', outcome: 'stopped', reason: evidence, trouble: 'output' }
  return sweep(session, at, next, rules, [{ at, type: 'session.stopping', step: 'sweep', reason: evidence }])
}

/** Ends a living attempt that is to be followed by another. A command is started again only when its user said so. */
function endFor(
  session: Session,
  moment: { readonly at: Instant; readonly chance: number },
  why: { readonly reason: string; readonly trouble: TroubleKind },
  rules: Rules,
): Step {
  const { proof, restart } = session.spec
  const isLast = proof === 'exit-code' && restart.on === 'crash'
  const next: Aftermath = isLast ? { kind: 'end', outcome: 'failed', ...why } : afterCrash(session, why, moment)
  const { at } = moment
  return sweep(session, at, next, rules, [{ at, type: 'session.stopping', step: 'sweep', reason: why.reason }])
}

export function sweepUnstarted(
  session: In<'stopping'>,
  { at }: SignalOf<'launch.failed' | 'launch.impossible'>,
  rules: Rules,
): Step {
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
  const { next } = session.phase
  const isOver = session.exit === null && next.kind === 'end' && next.outcome === 'done'
  if (isOver) return nothing(session) // It hung after a good end; what it says as it is ended takes nothing back.
  return judgeAgain(session, rememberLastWord(session, signal), signal.word, signal.at)
}

/** The same for a turn that began after the last one had ended: it died in the middle of that. */
export function takeLate(session: In<'stopping'>, signal: SignalOf<'agent.told'>): Step {
  const heard = take(session, signal)
  const { next } = session.phase
  const isJudgedByWord = next.kind === 'end' && (next.outcome === 'done' || next.outcome === 'failed')
  if (signal.news.type !== 'began' || !isJudgedByWord) return heard
  return session.exit === null ? unsay(session, heard, signal.at) : judgeAgain(session, heard, null, signal.at)
}

/** It was taken for hung after a turn had ended well; a moment before, the next one had begun. */
function unsay({ phase }: In<'stopping'>, heard: Step, at: Instant): Step {
  if (phase.next.kind !== 'end' || phase.next.outcome !== 'done') return heard
  const why = { reason: 'it was ended as its next turn began', trouble: 'silence' } as const
  const next = afterCrash(heard.session, why, { at, chance: 0 })
  return { ...heard, session: { ...heard.session, isTurnOver: false, phase: { ...phase, next } } }
}

/** What we ended ourselves, for these reasons, goes on as was decided: what it said while it was ended explains nothing. */
const OURS: readonly (TroubleKind | null)[] = ['silence', 'memory', 'held', 'folder']

/** A stop that was asked for meanwhile stays one, unless the work turns out to be over. */
function judgeAgain(session: In<'stopping'>, heard: Step, word: LastWord | null, at: Instant): Step {
  const { exit, phase, spec, wanted } = session
  const { next: decided } = phase
  const isDecidedByUs = decided.kind === 'next' || (decided.kind === 'end' && decided.outcome === 'stopped')
  if (exit === null || isDecidedByUs || spec.proof === 'exit-code') return heard
  const verdict = judgeEnd(spec.proof, { exit, word })
  if (OURS.includes(decided.trouble) && verdict.kind !== 'done') return heard
  const next: Aftermath =
    wanted === 'stop' && !isOver(verdict)
      ? { kind: 'end', ...stopped(session.stoppedBy) }
      : aftermathOf(verdict, session, { at, chance: 0 })
  const isNew = 'trouble' in verdict && verdict.trouble !== decided.trouble
  const known = isNew ? marked(heard.session, verdict, at) : { ...heard.session, isTurnOver: isOver(verdict) }
  return { ...heard, session: { ...known, phase: { ...phase, next } } }
}

function sweep(session: Session, at: Instant, next: Aftermath, rules: Rules, events: readonly Event[] = []): Step {
  const due = at + rules.sweepPatience
  const { attempt } = session
  return step({ ...session, phase: { name: 'stopping', step: 'sweep', due, next } }, events, [
    { type: 'sweep', attempt },
  ])
}
