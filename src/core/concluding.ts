import { formatDuration, type Instant } from '../lib/time.ts'
import type { Event } from './events.ts'
import { withFreshThread } from './fresh-thread.ts'
import { firstUnread, launch } from './launch.ts'
import { deadlineOf, type In, type Outcome, rested, type Session } from './session.ts'
import type { SignalOf } from './signals.ts'
import { judgeBudget } from './spending.ts'
import { nothing, type Step, step } from './step.ts'

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

export function end(session: Session, at: Instant, outcome: Outcome, reason: string): Step {
  const ended: Session = { ...session, phase: { name: 'ended', at, outcome, reason } }
  return step(ended, [{ at, type: 'session.ended', outcome, reason }], [{ type: 'close' }])
}
