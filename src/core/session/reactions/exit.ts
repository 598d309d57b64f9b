import type { Instant } from '../../../lib/time.ts'
import { nextStepAfterCrash, nextStepAfterExit } from '../../policy/exit-policy.ts'
import type { Event } from '../events.ts'
import type { ProblemKind } from '../failure.ts'
import { recordAgentUpdate, startsWork } from './agent-output.ts'
import { describeExit, type ExitClass, classifyExit } from '../../policy/exit-policy.ts'
import { takeNextStep } from './finish.ts'
import { applyThreadRecord, recordTurnResult } from './attempt-start-and-turn.ts'
import type { Timings } from '../supervisor-timings.ts'
import {
  type NextStep,
  type SessionIn,
  type FinishingSession,
  excludeWaitingTime,
  type Session,
} from '../session-state.ts'
import { withAttempt, type TurnResult } from '../attempt.ts'
import type { SignalOf, ThreadSurvey } from '../signals.ts'
import { hasUsage } from '../usage.ts'
import { unchanged, type Decision, makeDecision } from '../decision.ts'
import { enforceInterrupt, stoppedBy } from './stop.ts'

/**
 * Handles the agent's exit. A sweep ends the rest of its process tree before anything else happens, unless the tree is
 * empty and the next attempt starts at once.
 */
export function handleExit(session: Session, signal: SignalOf<'process.died'>, timings: Timings): Decision {
  const { at, attempt, exit, memory = null, emptyTree } = signal
  const verdict = classifyExit(session.spec.proof, { exit, result: session.attempt.result, memory })
  const spent = session.spending.attempt
  const next = nextStepAfterExit(verdict, session, signal)
  const idle = verdict.kind === 'rebooted' ? at - (signal.seenAt ?? at) : 0
  const counted = excludeWaitingTime(session, at)
  const dead = { ...withAttempt(recordExitKind(counted, verdict, at), { exit }), clockSince: counted.clockSince + idle }
  const swept = sweep(dead, at, next, timings, [
    { at, type: 'attempt.ended', attempt, exit, ...(hasUsage(spent) && { spent }) },
  ])
  const isRestart = next.kind === 'rest' && next.until <= at
  return isRestart && emptyTree !== undefined ? restartBeforeSweep(swept, signal, emptyTree.survey, timings) : swept
}

/** Starts the next attempt first. The sweep of the last one finds no process, so it only removes what is left on disk. */
function restartBeforeSweep(
  swept: Decision,
  { at, attempt }: SignalOf<'process.died'>,
  survey: ThreadSurvey | null,
  timings: Timings,
): Decision {
  const heard =
    survey === null
      ? unchanged(swept.session)
      : applyThreadRecord(swept.session, { at, type: 'thread.surveyed', attempt, isFinal: true, ...survey })
  const restarted = takeNextStep(heard.session as SessionIn<'stopping'>, at, timings)
  return makeDecision(
    restarted.session,
    [...swept.events, ...heard.events, ...restarted.events],
    [...restarted.effects, ...swept.effects],
  )
}

/** Records the kind of an attempt's end. */
function recordExitKind<S extends Session>(session: S, verdict: ExitClass, at: Instant): S {
  const { outages, limitedSince, thread } = session
  const isOutage = verdict.kind === 'outage'
  const isLost = verdict.kind === 'thread-spent' && !verdict.isFull
  return {
    ...withAttempt(session, { isTurnOver: endsTurn(verdict) }),
    outages: isOutage ? outages + 1 : outages,
    limitedSince: isOutage && verdict.isLimit ? (limitedSince ?? at) : limitedSince,
    thread: isLost ? { ...thread, losses: thread.losses + 1 } : thread,
  }
}

function endsTurn({ kind }: ExitClass): boolean {
  return kind === 'done' || kind === 'failed'
}

export function handleFailedLaunch(session: Session, signal: SignalOf<'launch.failed'>, timings: Timings): Decision {
  const { at, attempt, reason } = signal
  const next = nextStepAfterCrash(session, { reason: `could not start: ${reason}`, trouble: 'start' }, signal)
  return sweep(session, at, next, timings, [{ at, type: 'attempt.failed-to-start', attempt, reason }])
}

/** Blocks the session, because only a person can make it start. */
export function handleImpossibleLaunch(
  session: Session,
  { at, attempt, question }: SignalOf<'launch.impossible'>,
  timings: Timings,
): Decision {
  const next: NextStep = { kind: 'block', question, reason: question, trouble: 'folder' }
  return sweep(session, at, next, timings, [{ at, type: 'attempt.failed-to-start', attempt, reason: question }])
}

/** Ends an attempt that lives and does nothing, and restarts it, unless its turn was over anyway. */
export function endHung(session: Session, signal: SignalOf<'agent.hung'>, timings: Timings): Decision {
  const { at, evidence } = signal
  const { spec } = session
  const { result } = session.attempt
  if (result === null) return endAndRestart(session, signal, { reason: evidence, trouble: 'silence' }, timings)
  if (!result.ok) {
    // The agent has reported a failure and only does not exit, so the report counts.
    const verdict = classifyExit(spec.proof, { exit: { kind: 'vanished', evidence }, result })
    return sweep(recordExitKind(session, verdict, at), at, nextStepAfterExit(verdict, session, signal), timings)
  }
  const reason = `the agent ended its turn; oneshot ended its process, because it was ${evidence}`
  const over = withAttempt(session, { isTurnOver: true })
  return sweep(over, at, { kind: 'end', outcome: 'done', reason, trouble: null }, timings)
}

export function endOutOfMemory(session: Session, signal: SignalOf<'memory.exceeded'>, timings: Timings): Decision {
  return endAndRestart(session, signal, { reason: `out of memory: ${signal.evidence}`, trouble: 'memory' }, timings)
}

/** Stops the session: another attempt would continue to write, so a person decides. */
export function endOverOutputLimit(
  session: Session,
  { at, evidence }: SignalOf<'output.exceeded'>,
  timings: Timings,
): Decision {
  const next: NextStep = { kind: 'end', outcome: 'stopped', reason: evidence, trouble: 'output' }
  return sweep(session, at, next, timings, [{ at, type: 'session.stopping', step: 'sweep', reason: evidence }])
}

/** Ends a live attempt that another one is to follow. A command restarts only if its user asked for restarts. */
function endAndRestart(
  session: Session,
  moment: { readonly at: Instant; readonly chance: number },
  why: { readonly reason: string; readonly trouble: ProblemKind },
  timings: Timings,
): Decision {
  const { proof, supervision } = session.spec
  const { restart } = supervision
  const isLast = proof === 'exit-code' && restart.on === 'crash'
  const next: NextStep = isLast ? { kind: 'end', outcome: 'failed', ...why } : nextStepAfterCrash(session, why, moment)
  const { at } = moment
  return sweep(session, at, next, timings, [{ at, type: 'session.stopping', step: 'sweep', reason: why.reason }])
}

export function handleFailedLaunchWhileStopping(
  session: SessionIn<'stopping'>,
  { at }: SignalOf<'launch.failed' | 'launch.impossible'>,
  timings: Timings,
): Decision {
  const { step: reached, next } = session.phase
  if (reached === 'sweep' || reached === 'kill') return unchanged(session)
  return sweep(session, at, next, timings)
}

export function handleExitWhileStopping(
  session: SessionIn<'stopping'>,
  signal: SignalOf<'process.died'>,
  timings: Timings,
): Decision {
  if (session.attempt.exit !== null) return unchanged(session)
  const { at, attempt, exit } = signal
  const { next } = session.phase
  const isStop = next.kind === 'end' && next.outcome === 'stopped'
  const named: NextStep = isStop ? { ...next, reason: `${next.reason} (${describeExit(exit)})` } : next
  return sweep(withAttempt(session, { exit }), at, named, timings, [{ at, type: 'attempt.ended', attempt, exit }])
}

/**
 * Records the exit of a process that the supervisor ended although its turn was over. The exit explains nothing, so the
 * verification continues.
 */
export function recordLateExit(session: SessionIn<'verifying'>, signal: SignalOf<'process.died'>): Decision {
  if (session.attempt.exit !== null) return unchanged(session)
  const { at, attempt, exit } = signal
  return makeDecision(withAttempt(session, { exit }), [{ at, type: 'attempt.ended', attempt, exit }])
}

/** Classifies the exit again, because a terminal's last output arrives after the exit it explains. */
export function handleLateTurnResult(session: FinishingSession, signal: SignalOf<'agent.finished'>): Decision {
  const { next } = session.phase
  const isOver = session.attempt.exit === null && next.kind === 'end' && next.outcome === 'done'
  if (isOver) return unchanged(session) // The agent hung after a successful turn; its output during the sweep does not revoke that.
  return reclassifyExit(session, recordTurnResult(session, signal), signal.result, signal.at)
}

/** Records the report of an agent that is ending. Terminates the agent if it ignores the interrupt. */
export function handleUpdateWhileStopping(
  session: SessionIn<'stopping'>,
  signal: SignalOf<'agent.told'>,
  timings: Timings,
): Decision {
  const terminated = startsWork(signal.update) ? enforceInterrupt(session, signal.at, timings) : null
  return terminated ?? handleLateUpdate(session, signal)
}

/** Classifies the exit again if a turn began after the last one had ended: the agent died in the middle of it. */
export function handleLateUpdate(session: FinishingSession, signal: SignalOf<'agent.told'>): Decision {
  const heard = recordAgentUpdate(session, signal)
  const { next } = session.phase
  const isJudgedByWord = next.kind === 'end' && (next.outcome === 'done' || next.outcome === 'failed')
  if (signal.update.type !== 'began' || !isJudgedByWord) return heard
  return session.attempt.exit === null
    ? withdrawDone(session, heard, signal.at)
    : reclassifyExit(session, heard, null, signal.at)
}

/** Revokes the end of an agent that seemed to hang after a successful turn: its next turn had just begun. */
function withdrawDone({ phase }: FinishingSession, heard: Decision, at: Instant): Decision {
  if (phase.next.kind !== 'end' || phase.next.outcome !== 'done') return heard
  const why = { reason: 'it was ended as its next turn began', trouble: 'silence' } as const
  const next = nextStepAfterCrash(heard.session, why, { at, chance: 0 })
  return { ...heard, session: { ...withAttempt(heard.session, { isTurnOver: false }), phase: { ...phase, next } } }
}

/**
 * The supervisor ended the attempt itself for these reasons. Output during that end explains nothing, so the decision
 * stays.
 */
const DECIDED_BY_SUPERVISOR: readonly (ProblemKind | null)[] = ['silence', 'memory', 'held', 'folder']

/** Keeps a stop that was requested meanwhile, unless the work turns out to be over. */
function reclassifyExit(session: FinishingSession, heard: Decision, result: TurnResult | null, at: Instant): Decision {
  const { phase, spec, wanted } = session
  const { exit } = session.attempt
  const { next: decided } = phase
  const isDecidedByUs = decided.kind === 'next' || (decided.kind === 'end' && decided.outcome === 'stopped')
  if (exit === null || isDecidedByUs || spec.proof === 'exit-code') return heard
  const verdict = classifyExit(spec.proof, { exit, result })
  if (DECIDED_BY_SUPERVISOR.includes(decided.trouble) && verdict.kind !== 'done') return heard
  const next: NextStep =
    wanted === 'stop' && !endsTurn(verdict)
      ? { kind: 'end', ...stoppedBy(session.stoppedBy) }
      : nextStepAfterExit(verdict, session, { at, chance: 0 })
  const isNew = 'trouble' in verdict && verdict.trouble !== decided.trouble
  const known = isNew
    ? recordExitKind(heard.session, verdict, at)
    : withAttempt(heard.session, { isTurnOver: endsTurn(verdict) })
  return { ...heard, session: { ...known, phase: { ...phase, next } } }
}

function sweep(
  session: Session,
  at: Instant,
  next: NextStep,
  timings: Timings,
  events: readonly Event[] = [],
): Decision {
  const due = at + timings.sweepPatience
  return makeDecision({ ...session, phase: { name: 'stopping', step: 'sweep', due, next } }, events, [
    { type: 'sweep', attempt: session.attempt.number },
  ])
}
