import { type Duration, type Instant, formatDuration } from '../../../lib/time.ts'
import type { Event } from '../events.ts'
import type { ProblemKind } from '../failure.ts'
import { firstUnread, launchAttempt, resetCounters, startNewThread } from './attempt-start-and-turn.ts'
import { isClockRolledBack } from '../../policy/restart-schedule.ts'
import type { Timings } from '../supervisor-timings.ts'
import {
  type NextStep,
  type Outcome,
  type Session,
  type SessionIn,
  type FinishingSession,
  excludeWaitingTime,
  sessionDeadline,
} from '../session-state.ts'
import { withAttempt } from '../attempt.ts'
import type { SignalOf } from '../signals.ts'
import { checkBudget } from '../usage.ts'
import { type Decision, makeDecision, unchanged } from '../decision.ts'
import { verifyWork } from '../../policy/verify.ts'

export function handleTreeGone(
  session: SessionIn<'stopping'>,
  { at }: SignalOf<'tree.gone'>,
  timings: Timings,
): Decision {
  return takeNextStep(session, at, timings)
}

/** Takes the step that the attempt's exit decided, now that no process of the attempt is left. */
export function takeNextStep(session: FinishingSession, at: Instant, timings: Timings): Decision {
  const { next } = session.phase
  switch (next.kind) {
    case 'end':
      return endOrDeliverNext(session, next, at)
    case 'next':
      return launchAttempt(withAttempt(prepareNextMessage(session, at), { isTurnOver: true }), at)
    case 'block':
      return blockSession(session, at, next)
    case 'rest': {
      const until = Math.max(next.until, at)
      const { reason, cause, trouble } = next
      const phase = { name: 'resting', since: at, until, reason, cause, trouble } as const
      const events: Event[] = [{ at, type: 'session.resting', until, reason, cause, trouble }]
      const resting: Session = { ...withAttempt(session, { process: null }), phase }
      const rest = next.thread === 'same' ? makeDecision(resting, events) : abandonThread(resting, at, reason, events)
      return until > at ? rest : relaunchAtOnce(rest, at, timings)
    }
  }
}

/** Ends a rest that is over as it begins. */
function relaunchAtOnce(rest: Decision, at: Instant, timings: Timings): Decision {
  const { session, events, effects } = relaunchOrEnd(
    rest.session as SessionIn<'resting'>,
    { at, type: 'clock.due' },
    timings,
  )
  return makeDecision(session, [...rest.events, ...events], effects)
}

/**
 * Ends the session, or delivers the next message after the turn. If the agent could not even read its input, another
 * message would not help.
 */
function endOrDeliverNext(session: FinishingSession, next: NextStep & { kind: 'end' }, at: Instant): Decision {
  const { outcome } = next
  const hasRead = session.attempt.input?.isConfirmed === true
  const isOver = outcome === 'done' || outcome === 'failed'
  const isWaiting = isOver && hasRead && session.wanted === 'run' && firstUnread(session) !== undefined
  const isToBeProven = outcome === 'done' && session.spec.supervision.verify !== undefined
  if (!isWaiting) return isToBeProven ? startVerification(session, next, at) : endSession(session, at, next)
  const overspent = checkBudget(session.spec.supervision.limits, session.spending)
  if (overspent !== null) return endSession(session, at, { outcome: 'stopped', reason: overspent, trouble: 'budget' })
  return launchAttempt(outcome === 'done' ? { ...session, forgivenAt: at } : session, at)
}

/** Enters the phase in which the verifier inspects the work. */
function startVerification(session: Session, next: NextStep & { kind: 'end' }, at: Instant): Decision {
  const phase = { name: 'verifying', since: at, next } as const
  return makeDecision({ ...session, phase }, [{ at, type: 'session.stopping', step: 'prove', reason: next.reason }])
}

function abandonThread(session: Session, at: Instant, reason: string, events: readonly Event[]): Decision {
  const { id } = session.thread
  return makeDecision(startNewThread(session, at), [{ at, type: 'thread.given-up', thread: id, reason }, ...events])
}

export function relaunchOrEnd(
  session: SessionIn<'resting'>,
  { at }: SignalOf<'clock.due'>,
  timings: Timings,
): Decision {
  const { cause, until, reason } = session.phase
  const deadline = sessionDeadline(session)
  // A session that returns late because the machine was off is not at fault.
  if (deadline !== null && Math.min(at, until) >= deadline) return endSession(session, at, timeLimitReached(session))
  if (at < until && !isClockRolledBack(session, at, timings)) return unchanged(session)
  const late = Math.max(0, at - until)
  const woken =
    cause === 'limit' ? excludeWaitingTime(session, at) : { ...session, clockSince: session.clockSince + late }
  const { absence } = session.spec.supervision.patience
  if (absence !== null && late > absence) {
    const question = `no supervisor was running when this session was due to continue, ${formatDuration(at - until)} ago (${reason})`
    return blockSession(cause === 'limit' ? session : woken, at, { question, trouble: 'absence' })
  }
  if (cause !== 'crash') return launchAttempt(woken, at)
  const { session: counted, events } = countRestart(woken, at)
  const launched = launchAttempt(counted, at)
  return { ...launched, events: [...events, ...launched.events] }
}

/** Blocks the session until a person acts; no process is alive. */
export function blockSession(
  session: Session,
  at: Instant,
  { question, trouble }: { readonly question: string; readonly trouble: ProblemKind },
): Decision {
  const phase = { name: 'blocked', since: at, question, trouble } as const
  return makeDecision({ ...withAttempt(excludeWaitingTime(session, at), { process: null }), phase }, [
    { at, type: 'session.blocked', question, trouble },
  ])
}

export interface SessionEnd {
  readonly outcome: Outcome
  readonly reason: string
  readonly trouble: ProblemKind | null
}

export function endSession(session: Session, at: Instant, { outcome, reason, trouble }: SessionEnd): Decision {
  const ended: Session = { ...session, phase: { name: 'ended', at, outcome, reason, trouble } }
  return makeDecision(ended, [{ at, type: 'session.ended', outcome, reason, trouble }], [{ type: 'close' }])
}

/** The next message of a person is new work; that of a session is part of the old work. */
function prepareNextMessage(session: Session, at: Instant): Session {
  return firstUnread(session)?.by === undefined ? resetCounters(session, at) : session
}

export function timeLimitReached({ spec }: Session): SessionEnd {
  const reason = `the time limit of ${formatDuration(spec.supervision.maxTime ?? 0)} was reached`
  return { outcome: 'stopped', reason, trouble: 'time' }
}

const HOUR: Duration = 3_600_000

/**
 * Counts a restart after a crash. Reports too many within an hour, even if the session recovers, at most once an hour.
 */
function countRestart(session: Session, at: Instant): { session: Session; events: Event[] } {
  const { spec, alertedAt } = session
  const memory = Math.max(HOUR, spec.supervision.restart.window)
  const restarts = [...session.restarts.filter(earlier => earlier > at - memory), at]
  const counted: Session = { ...session, restarts, restartCount: session.restartCount + 1 }
  const inAnHour = restarts.filter(earlier => earlier > at - HOUR).length
  const isReported = alertedAt !== null && alertedAt > at - HOUR
  if (inAnHour <= spec.supervision.alertAfter || isReported) return { session: counted, events: [] }
  return {
    session: { ...counted, alertedAt: at },
    events: [{ at, type: 'session.restarting-often', restarts: inAnHour, within: HOUR }],
  }
}

/** Ends the session after the verification: a successful end counts only with the required evidence. */
export function handleInspectedWork(
  session: SessionIn<'verifying'>,
  { at, shown }: SignalOf<'work.shown'>,
  timings: Timings,
): Decision {
  const { next } = session.phase
  // A signal that arrived during the verification may have changed the next step.
  if (next.kind !== 'end' || next.outcome !== 'done') return takeNextStep(session, at, timings)
  const said = session.attempt.result?.text ?? null
  const { verdict, reasons } = verifyWork({ state: 'done', reason: next.reason, said, ...shown })
  if (verdict === 'proven') return endSession(session, at, { ...next, reason: [next.reason, ...reasons].join(', ') })
  const where =
    shown.checked?.kind === 'failed' ? `; oneshot verify ${session.spec.name} runs it again and shows what it says` : ''
  const reason = `${next.reason}, but ${reasons.join('; ')}${where}`
  return endSession(session, at, { outcome: 'failed', reason, trouble: 'unproven' })
}
