import { toOneLine } from '../../../lib/text/strip-terminal-controls.ts'
import { replacePlan, updatePlan } from './tasks.ts'
import type { Timings } from '../supervisor-timings.ts'
import { withAttempt, type Activity } from '../attempt.ts'
import type { Session } from '../session-state.ts'
import type { AgentUpdate, SignalOf } from '../signals.ts'
import { addUsage, subtractUsage, checkBudget } from '../usage.ts'
import { unchanged, type Decision, makeDecision } from '../decision.ts'
import { interruptAndStop } from './stop.ts'

/** The stored part of a tool call, in characters: enough for people to recognise it. */
const MAX_SUMMARY = 200
/** Limits the record of an agent that never reports the end of its tools. */
const MOST_TOOLS = 50
/** More kinds of unknown output than this tell a reader nothing new. */
const MOST_UNKNOWN = 20

/**
 * Records an agent's report. Stops an agent that continues to work beyond its budget, but not one that has just ended.
 */
export function handleAgentUpdate(session: Session, signal: SignalOf<'agent.told'>, timings: Timings): Decision {
  const { at, update } = signal
  const overspent = startsWork(update) ? checkBudget(session.spec.supervision.limits, session.spending) : null
  if (overspent !== null)
    return interruptAndStop(
      session,
      at,
      { kind: 'end', outcome: 'stopped', reason: overspent, trouble: 'budget' },
      timings,
    )
  return recordAgentUpdate(session, signal)
}

/** Records an agent's report without a check of the budget, for an attempt that is ending anyway. */
export function recordAgentUpdate(session: Session, { at, update }: SignalOf<'agent.told'>): Decision {
  switch (update.type) {
    case 'began':
      return session.attempt.result === null
        ? unchanged(session)
        : makeDecision(withAttempt(session, { result: null }), [])
    case 'tool-started':
    case 'tool-ended':
    case 'edited':
      return makeDecision(withAttempt(session, { activity: updateActivity(session.attempt.activity, update, at) }), [])
    case 'spent':
      return makeDecision(addReportedUsage(session, update), [])
    case 'retrying':
      return makeDecision(
        withAttempt(session, { activity: { ...session.attempt.activity, retrying: update.failure } }),
        [{ at, type: 'agent.retrying', failure: update.failure }],
      )
    case 'planned':
      return replacePlan(session, update.tasks, at)
    case 'replanned':
      return updatePlan(session, update.tasks, at)
    case 'unknown':
      if (session.unknown.includes(update.what) || session.unknown.length >= MOST_UNKNOWN) return unchanged(session)
      return makeDecision({ ...session, unknown: [...session.unknown, update.what] }, [
        { at, type: 'agent.unknown', what: update.what },
      ])
  }
}

/**
 * Records the usage of the sessions that this one started. The budget check follows when this session itself continues.
 */
export function chargeChildren(session: Session, { charge }: SignalOf<'children.charged'>): Decision {
  return makeDecision({ ...session, spending: { ...session.spending, children: charge } }, [])
}

export function startsWork(update: AgentUpdate): boolean {
  return update.type === 'tool-started' || update.type === 'began' || update.type === 'retrying'
}

function updateActivity(activity: Activity, update: AgentUpdate, at: number): Activity {
  const { tools } = activity
  if (update.type === 'tool-started') {
    const { id, tool, summary } = update
    const others = tools.filter(open => open.id !== id)
    const open = { id, tool, summary: toOneLine(summary).slice(0, MAX_SUMMARY), since: at }
    return { ...activity, retrying: null, tools: [...others, open].slice(-MOST_TOOLS) }
  }
  if (update.type === 'tool-ended') return { ...activity, tools: tools.filter(open => open.id !== update.id) }
  return { ...activity, editedAt: at }
}

/**
 * Adds reported usage. Some programs sum up their tokens and leave the count of answers to us. An answer shows that the
 * model is available, so it ends an outage.
 */
function addReportedUsage(session: Session, { scope, spending }: Extract<AgentUpdate, { type: 'spent' }>): Session {
  const ledger = session.spending
  const reported = scope === 'thread' ? subtractUsage(spending, ledger.threadBefore) : spending
  const attempt =
    scope === 'step'
      ? addUsage(ledger.attempt, reported)
      : { ...reported, turns: Math.max(reported.turns, ledger.attempt.turns) }
  const thread = scope === 'thread' ? spending : addUsage(ledger.threadBefore, attempt)
  const hasAnswered = attempt.turns > ledger.attempt.turns
  const activity = hasAnswered ? { ...session.attempt.activity, retrying: null } : session.attempt.activity
  return {
    ...withAttempt(session, { activity }),
    outages: hasAnswered ? 0 : session.outages,
    limitedSince: hasAnswered ? null : session.limitedSince,
    spending: { ...ledger, attempt, thread },
  }
}
