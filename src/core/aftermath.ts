import { formatDuration, type Instant } from '../lib/time.ts'
import type { TroubleKind } from './failure.ts'
import type { EndVerdict } from './judge-end.ts'
import { judgeOutage } from './judge-outage.ts'
import { judgeRestart } from './judge-restart.ts'
import { judgeWait } from './judge-wait.ts'
import type { Aftermath, Session } from './session.ts'
import { judgeBudget } from './spending.ts'

/** Sessions that come back after a reboot do so over this long, not all at once. */
const REBOOT_STAGGER = 10_000

/** When something came to its end, and a dice roll in [0, 1) for what follows. */
export interface Moment {
  readonly at: Instant
  readonly chance: number
  /** When it was last at work, if that was before the machine was restarted. */
  readonly seenAt?: Instant
}

/** What follows from how an attempt ended. */
export function aftermathOf(verdict: EndVerdict, session: Session, moment: Moment): Aftermath {
  const { reason } = verdict
  switch (verdict.kind) {
    case 'done':
      return { kind: 'end', outcome: 'done', reason, trouble: null }
    case 'failed': {
      const isTriedAgain = session.spec.proof === 'exit-code' && session.spec.restart.on === 'failure'
      if (isTriedAgain) return afterCrash(session, verdict, moment)
      return { kind: 'end', outcome: 'failed', reason, trouble: verdict.trouble }
    }
    case 'budget':
      return { kind: 'end', outcome: 'stopped', reason, trouble: 'budget' }
    case 'crashed':
      return afterCrash(session, verdict, moment)
    case 'rebooted':
      return afterReboot(session, reason, moment)
    case 'thread-spent':
      // A conversation is not given up on one failure to resume it, which may pass.
      return afterCrash(session, verdict, moment, verdict.isFull || session.thread.losses > 0 ? 'new' : 'same')
    case 'outage':
      return afterOutage(session, verdict, moment)
    case 'blocked': {
      const { trouble, remedy } = verdict
      return { kind: 'block', reason, trouble, question: remedy === null ? reason : `${reason} (${remedy})` }
    }
  }
}

/** What follows from a death that another attempt may undo. */
export function afterCrash(
  session: Session,
  { reason, trouble }: { readonly reason: string; readonly trouble: TroubleKind },
  { at, chance }: Moment,
  thread: 'same' | 'new' = 'same',
): Aftermath {
  const { restart, limits } = session.spec
  const overspent = judgeBudget(limits, session.spending)
  if (overspent !== null) return { kind: 'end', outcome: 'stopped', reason: overspent, trouble: 'budget' }
  const unforgiven = session.restarts.filter(restarted => restarted > session.forgivenAt)
  const verdict = judgeRestart(restart, unforgiven, at, chance)
  if (verdict.kind === 'restart') return { kind: 'rest', until: verdict.at, reason, trouble, cause: 'crash', thread }
  const times = `${restart.limit} ${restart.limit === 1 ? 'restart' : 'restarts'}`
  const history = `${times} within ${formatDuration(restart.window)} did not help; the last attempt: `
  return { kind: 'end', outcome: 'gave-up', reason: `${restart.limit === 0 ? '' : history}${reason}`, trouble }
}

/** A command is started again only when its user said that it may be. */
function afterReboot({ spec }: Session, reason: string, { at, chance, seenAt = at }: Moment): Aftermath {
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

function afterOutage(
  session: Session,
  verdict: Extract<EndVerdict, { kind: 'outage' }>,
  { at, chance }: Moment,
): Aftermath {
  const { reason, trouble, isLimit } = verdict
  const until = judgeOutage({ ...verdict, inARow: session.outages }, at, chance)
  if (!isLimit) return { kind: 'rest', until, reason, trouble, cause: 'outage', thread: 'same' }
  const objection = judgeWait(session.spec.patience, { since: session.limitedSince ?? at, until })
  if (objection === null) return { kind: 'rest', until, reason, trouble, cause: 'limit', thread: 'same' }
  return { kind: 'end', outcome: 'stopped', reason: `${reason}; ${objection}`, trouble }
}
