import { formatDuration, type Instant } from '../lib/time.ts'
import type { Event } from './events.ts'
import type { TroubleKind } from './failure.ts'
import { withFreshThread } from './fresh-thread.ts'
import { isSetBack } from './is-set-back.ts'
import { firstUnread, launch } from './launch.ts'
import { renewed } from './renewed.ts'
import { noteRestart } from './restarting.ts'
import type { Rules } from './rules.ts'
import { type Aftermath, deadlineOf, type In, type Outcome, rested, type Session } from './session.ts'
import type { SignalOf } from './signals.ts'
import { judgeBudget } from './spending.ts'
import { nothing, type Step, step } from './step.ts'

/** Nothing of the attempt is left: what was decided at its death follows now, and what nobody has cleared up yet, last. */
export function conclude(
  session: In<'stopping'>,
  { at, attempt, isUnswept }: SignalOf<'tree.gone'>,
  rules: Rules,
): Step {
  if (session.phase.step === 'prove') return nothing(session)
  const concluded = follow(session, at, rules)
  return isUnswept ? { ...concluded, effects: [...concluded.effects, { type: 'sweep', attempt }] } : concluded
}

export function follow(session: In<'stopping'>, at: Instant, rules: Rules): Step {
  const { next } = session.phase
  switch (next.kind) {
    case 'end':
      return followUp(session, next, at)
    case 'next':
      return launch({ ...forNext(session, at), isTurnOver: true }, at)
    case 'block':
      return block(session, at, next)
    case 'rest': {
      const until = Math.max(next.until, at)
      const { reason, cause, trouble } = next
      const phase = { name: 'resting', since: at, until, reason, cause, trouble } as const
      const events: Event[] = [{ at, type: 'session.resting', until, reason, cause, trouble }]
      const resting: Session = { ...session, life: null, phase }
      const rest = next.thread === 'same' ? step(resting, events) : giveThreadUp(resting, at, reason, events)
      return until > at ? rest : withoutRest(rest, at, rules)
    }
  }
}

/** A rest that is over as it begins. */
function withoutRest(rest: Step, at: Instant, rules: Rules): Step {
  const { session, events, effects } = relaunchOrEnd(rest.session as In<'resting'>, { at, type: 'clock.due' }, rules)
  return step(session, [...rest.events, ...events], effects)
}

/** A turn has ended, and the next message may wait. What the agent could not even read would not be helped by another. */
function followUp(session: In<'stopping'>, next: Aftermath & { kind: 'end' }, at: Instant): Step {
  const { outcome } = next
  const hasRead = session.errand?.isConfirmed === true
  const isOver = outcome === 'done' || outcome === 'failed'
  const isWaiting = isOver && hasRead && session.wanted === 'run' && firstUnread(session) !== undefined
  const isToBeProven = outcome === 'done' && session.spec.verify !== undefined
  if (!isWaiting) return isToBeProven ? lookAtWork(session, next, at) : end(session, at, next)
  const overspent = judgeBudget(session.spec.limits, session.spending)
  if (overspent !== null) return end(session, at, { outcome: 'stopped', reason: overspent, trouble: 'budget' })
  return launch(outcome === 'done' ? { ...session, forgivenAt: at } : session, at)
}

/** What it has done is looked at, by whoever sees that it stands here. */
function lookAtWork(session: In<'stopping'>, next: Aftermath & { kind: 'end' }, at: Instant): Step {
  const phase = { ...session.phase, step: 'prove', next } as const
  return step({ ...session, phase }, [{ at, type: 'session.stopping', step: 'prove', reason: next.reason }])
}

function giveThreadUp(session: Session, at: Instant, reason: string, events: readonly Event[]): Step {
  const { id } = session.thread
  return step(withFreshThread(session, at), [{ at, type: 'thread.given-up', thread: id, reason }, ...events])
}

export function relaunchOrEnd(session: In<'resting'>, { at }: SignalOf<'clock.due'>, rules: Rules): Step {
  const { cause, until, reason } = session.phase
  const deadline = deadlineOf(session)
  // That it comes back late, because the machine was off, is not its fault.
  if (deadline !== null && Math.min(at, until) >= deadline) return end(session, at, timeIsUp(session))
  if (at < until && !isSetBack(session, at, rules)) return nothing(session)
  const late = Math.max(0, at - until)
  const woken = cause === 'limit' ? rested(session, at) : { ...session, clockSince: session.clockSince + late }
  const { absence } = session.spec.patience
  if (absence !== null && late > absence) {
    const question = `no supervisor was running when this session was due to continue, ${formatDuration(at - until)} ago (${reason})`
    return block(cause === 'limit' ? session : woken, at, { question, trouble: 'absence' })
  }
  if (cause !== 'crash') return launch(woken, at)
  const { session: counted, events } = noteRestart(woken, at)
  const launched = launch(counted, at)
  return { ...launched, events: [...events, ...launched.events] }
}

/** With nothing alive it waits for a person. */
export function block(
  session: Session,
  at: Instant,
  { question, trouble }: { readonly question: string; readonly trouble: TroubleKind },
): Step {
  const phase = { name: 'blocked', since: at, question, trouble, isIdle: true } as const
  return step({ ...rested(session, at), life: null, phase }, [{ at, type: 'session.blocked', question, trouble }])
}

export interface End {
  readonly outcome: Outcome
  readonly reason: string
  readonly trouble: TroubleKind | null
}

export function end(session: Session, at: Instant, { outcome, reason, trouble }: End): Step {
  const ended: Session = { ...session, phase: { name: 'ended', at, outcome, reason, trouble } }
  return step(ended, [{ at, type: 'session.ended', outcome, reason, trouble }], [{ type: 'close' }])
}

/** The next message of a person is new work; that of a session is part of the old. */
function forNext(session: Session, at: Instant): Session {
  return firstUnread(session)?.by === undefined ? renewed(session, at) : session
}

export function timeIsUp({ spec }: Session): End {
  const reason = `the time limit of ${formatDuration(spec.maxTime ?? 0)} was reached`
  return { outcome: 'stopped', reason, trouble: 'time' }
}
