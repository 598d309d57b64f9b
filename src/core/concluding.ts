import { formatDuration, type Instant } from '../lib/time.ts'
import type { Event } from './events.ts'
import { withFreshThread } from './fresh-thread.ts'
import { isSetBack } from './is-set-back.ts'
import { firstUnread, launch } from './launch.ts'
import { renewed } from './renewed.ts'
import type { Rules } from './rules.ts'
import { type Aftermath, deadlineOf, type In, type Outcome, rested, type Session } from './session.ts'
import type { SignalOf } from './signals.ts'
import { judgeBudget } from './spending.ts'
import { nothing, type Step, step } from './step.ts'

/** Nothing of the attempt is left: what was decided at its death follows now. */
export function conclude(session: In<'stopping'>, { at }: SignalOf<'tree.gone'>): Step {
  const { next } = session.phase
  switch (next.kind) {
    case 'end':
      return followUp(session, next, at)
    case 'next':
      return launch({ ...renewed(session, at), isTurnOver: true }, at)
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

/** A turn has ended, and the next message may wait. What the agent could not even read would not be helped by another. */
function followUp(session: Session, { outcome, reason }: Aftermath & { kind: 'end' }, at: Instant): Step {
  const hasRead = session.errand?.isConfirmed === true
  const isOver = outcome === 'done' || outcome === 'failed'
  const isWaiting = isOver && hasRead && session.wanted === 'run' && firstUnread(session) !== undefined
  if (!isWaiting) return end(session, at, outcome, reason)
  const overspent = judgeBudget(session.spec.limits, session.spending)
  return overspent === null ? launch(session, at) : end(session, at, 'stopped', overspent)
}

function giveThreadUp(session: Session, at: Instant, reason: string, events: readonly Event[]): Step {
  const { id } = session.thread
  return step(withFreshThread(session, at), [{ at, type: 'thread.given-up', thread: id, reason }, ...events])
}

export function relaunchOrEnd(session: In<'resting'>, { at }: SignalOf<'clock.due'>, rules: Rules): Step {
  const deadline = deadlineOf(session)
  if (deadline !== null && at >= deadline) {
    return end(session, at, 'stopped', `the time limit of ${formatDuration(session.spec.maxTime ?? 0)} was reached`)
  }
  if (at < session.phase.until && !isSetBack(session, at, rules)) return nothing(session)
  const { cause } = session.phase
  const woken = rested(session, at)
  return launch(cause === 'crash' ? { ...woken, restarts: [...woken.restarts, at] } : woken, at)
}

export function end(session: Session, at: Instant, outcome: Outcome, reason: string): Step {
  const ended: Session = { ...session, phase: { name: 'ended', at, outcome, reason } }
  return step(ended, [{ at, type: 'session.ended', outcome, reason }], [{ type: 'close' }])
}
