import { formatDuration, type Instant } from '../../lib/time.ts'
import type { ProblemKind } from '../session/failure.ts'
import type { ExitClass } from './classify-exit.ts'
import { retryTimeAfterOutage } from './restart-schedule.ts'
import { scheduleRestart } from './restart-schedule.ts'
import { reasonNotToWait } from './restart-schedule.ts'
import type { NextStep, Session } from '../session/session.ts'
import { checkBudget } from '../session/usage.ts'

/** After a reboot, sessions restart spread over this time, not all at once. */
const REBOOT_STAGGER = 10_000

/** The time of an exit, and a random number in [0, 1) for the next step. */
export interface ExitMoment {
  readonly at: Instant
  readonly chance: number
  /** The last activity, if it was before the machine restarted. */
  readonly seenAt?: Instant
}

/** Decides the next step after an attempt's exit. */
export function nextStepAfterExit(verdict: ExitClass, session: Session, moment: ExitMoment): NextStep {
  const { reason } = verdict
  switch (verdict.kind) {
    case 'done':
      return { kind: 'end', outcome: 'done', reason, trouble: null }
    case 'failed': {
      const isTriedAgain = session.spec.proof === 'exit-code' && session.spec.restart.on === 'failure'
      if (isTriedAgain) return nextStepAfterCrash(session, verdict, moment)
      return { kind: 'end', outcome: 'failed', reason, trouble: verdict.trouble }
    }
    case 'budget':
      return { kind: 'end', outcome: 'stopped', reason, trouble: 'budget' }
    case 'crashed':
      return nextStepAfterCrash(session, verdict, moment)
    case 'rebooted':
      return nextStepAfterReboot(session, reason, moment)
    case 'thread-spent':
      // One failed resume may pass, so it does not end a conversation.
      return nextStepAfterCrash(session, verdict, moment, verdict.isFull || session.thread.losses > 0 ? 'new' : 'same')
    case 'outage':
      return nextStepAfterOutage(session, verdict, moment)
    case 'blocked': {
      const { trouble, remedy } = verdict
      return { kind: 'block', reason, trouble, question: remedy === null ? reason : `${reason} (${remedy})` }
    }
  }
}

/** Decides the next step after a death from which another attempt may recover. */
export function nextStepAfterCrash(
  session: Session,
  { reason, trouble }: { readonly reason: string; readonly trouble: ProblemKind },
  { at, chance }: ExitMoment,
  thread: 'same' | 'new' = 'same',
): NextStep {
  const { restart, limits } = session.spec
  const overspent = checkBudget(limits, session.spending)
  if (overspent !== null) return { kind: 'end', outcome: 'stopped', reason: overspent, trouble: 'budget' }
  const unforgiven = session.restarts.filter(restartedAt => restartedAt > session.forgivenAt)
  const verdict = scheduleRestart(restart, unforgiven, at, chance)
  if (verdict.kind === 'restart') return { kind: 'rest', until: verdict.at, reason, trouble, cause: 'crash', thread }
  const times = `${restart.limit} ${restart.limit === 1 ? 'restart' : 'restarts'}`
  const history = `${times} within ${formatDuration(restart.window)} did not help; the last attempt: `
  return { kind: 'end', outcome: 'gave-up', reason: `${restart.limit === 0 ? '' : history}${reason}`, trouble }
}

/** A command restarts only if its user allowed it. */
function nextStepAfterReboot({ spec }: Session, reason: string, { at, chance, seenAt = at }: ExitMoment): NextStep {
  if (spec.proof === 'exit-code' && spec.restart.on === 'crash')
    return { kind: 'end', outcome: 'failed', reason, trouble: 'reboot' }
  const { absence } = spec.patience
  if (absence !== null && at - seenAt > absence) {
    const question = `${reason}, and it last worked ${formatDuration(at - seenAt)} ago`
    return { kind: 'block', reason, question, trouble: 'absence' }
  }
  const until = at + Math.round(chance * REBOOT_STAGGER)
  return { kind: 'rest', until, reason, trouble: 'reboot', cause: 'reboot', thread: 'same' }
}

function nextStepAfterOutage(
  session: Session,
  verdict: Extract<ExitClass, { kind: 'outage' }>,
  { at, chance }: ExitMoment,
): NextStep {
  const { reason, trouble, isLimit } = verdict
  const until = retryTimeAfterOutage({ ...verdict, inARow: session.outages }, at, chance)
  if (!isLimit) return { kind: 'rest', until, reason, trouble, cause: 'outage', thread: 'same' }
  const objection = reasonNotToWait(session.spec.patience, { since: session.limitedSince ?? at, until })
  if (objection === null) return { kind: 'rest', until, reason, trouble, cause: 'limit', thread: 'same' }
  return { kind: 'end', outcome: 'stopped', reason: `${reason}; ${objection}`, trouble }
}
