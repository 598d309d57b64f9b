import { toOneLine } from '../../../lib/text/terminal-text.ts'
import { replacePlan, updatePlan } from './tasks.ts'
import type { Timings } from '../defaults.ts'
import type { Activity, Session } from '../session.ts'
import type { AgentUpdate, SignalOf } from '../signals.ts'
import { addUsage, subtractUsage, checkBudget } from '../usage.ts'
import { unchanged, type Decision, makeDecision } from '../decision.ts'
import { interruptAndStop } from './stop.ts'

/** What is stored of a call: enough for people to recognise it by. */
const LONGEST_GIST = 200
/** An agent that never tells of a tool's end does not fill the record. */
const MOST_TOOLS = 50
/** More kinds of unknown output than this say nothing new. */
const MOST_UNKNOWN = 20

/** What the agent tells of its work. One that goes on spending beyond its budget is stopped; one that has just ended is not. */
export function handleAgentUpdate(session: Session, signal: SignalOf<'agent.told'>, timings: Timings): Decision {
  const { at, news } = signal
  const overspent = startsWork(news) ? checkBudget(session.spec.limits, session.spending) : null
  if (overspent !== null)
    return interruptAndStop(
      session,
      at,
      { kind: 'end', outcome: 'stopped', reason: overspent, trouble: 'budget' },
      timings,
    )
  return recordAgentUpdate(session, signal)
}

/** The same, of an attempt that is being ended anyway. */
export function recordAgentUpdate(session: Session, { at, news }: SignalOf<'agent.told'>): Decision {
  switch (news.type) {
    case 'began':
      return session.lastWord === null ? unchanged(session) : makeDecision({ ...session, lastWord: null }, [])
    case 'tool-started':
    case 'tool-ended':
    case 'edited':
      return makeDecision({ ...session, activity: updateActivity(session.activity, news, at) }, [])
    case 'spent':
      return makeDecision(addReportedUsage(session, news), [])
    case 'retrying':
      return makeDecision({ ...session, activity: { ...session.activity, retrying: news.failure } }, [
        { at, type: 'agent.retrying', failure: news.failure },
      ])
    case 'planned':
      return replacePlan(session, news.tasks, at)
    case 'replanned':
      return updatePlan(session, news.tasks, at)
    case 'unknown':
      if (session.unknown.includes(news.what) || session.unknown.length >= MOST_UNKNOWN) return unchanged(session)
      return makeDecision({ ...session, unknown: [...session.unknown, news.what] }, [
        { at, type: 'agent.unknown', what: news.what },
      ])
  }
}

/** Remembers the spending of the sessions that it has started; the budget is judged when it goes on itself. */
export function chargeChildren(session: Session, { charge }: SignalOf<'children.charged'>): Decision {
  return makeDecision({ ...session, spending: { ...session.spending, children: charge } }, [])
}

function startsWork(update: AgentUpdate): boolean {
  return update.type === 'tool-started' || update.type === 'began' || update.type === 'retrying'
}

function updateActivity(activity: Activity, update: AgentUpdate, at: number): Activity {
  const { tools } = activity
  if (update.type === 'tool-started') {
    const { id, tool, gist } = update
    const others = tools.filter(open => open.id !== id)
    const open = { id, tool, gist: toOneLine(gist).slice(0, LONGEST_GIST), since: at }
    return { ...activity, retrying: null, tools: [...others, open].slice(-MOST_TOOLS) }
  }
  if (update.type === 'tool-ended') return { ...activity, tools: tools.filter(open => open.id !== update.id) }
  return { ...activity, editedAt: at }
}

/**
 * A program that sums its tokens up may leave it to us to count its answers. A model that answers is there: what came before
 * was no more than an outage.
 */
function addReportedUsage(session: Session, { scope, spending }: Extract<AgentUpdate, { type: 'spent' }>): Session {
  const ledger = session.spending
  const told = scope === 'thread' ? subtractUsage(spending, ledger.threadBefore) : spending
  const attempt =
    scope === 'step' ? addUsage(ledger.attempt, told) : { ...told, turns: Math.max(told.turns, ledger.attempt.turns) }
  const thread = scope === 'thread' ? spending : addUsage(ledger.threadBefore, attempt)
  const hasAnswered = attempt.turns > ledger.attempt.turns
  const activity = hasAnswered ? { ...session.activity, retrying: null } : session.activity
  return {
    ...session,
    activity,
    outages: hasAnswered ? 0 : session.outages,
    limitedSince: hasAnswered ? null : session.limitedSince,
    spending: { ...ledger, attempt, thread },
  }
}
