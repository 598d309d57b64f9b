import { oneLine } from '../lib/terminal-text.ts'
import { planned, replanned } from './planning.ts'
import type { Rules } from './rules.ts'
import type { Activity, Session } from './session.ts'
import type { News, SignalOf } from './signals.ts'
import { add, beyond, judgeBudget } from './spending.ts'
import { nothing, type Step, step } from './step.ts'
import { bringDown } from './stopping.ts'

/** What is stored of a call: enough for people to recognise it by. */
const LONGEST_GIST = 200
/** An agent that never tells of a tool's end does not fill the record. */
const MOST_TOOLS = 50
/** More kinds of unknown output than this say nothing new. */
const MOST_UNKNOWN = 20

/** What the agent tells of its work. One that goes on spending beyond its budget is stopped; one that has just ended is not. */
export function listen(session: Session, signal: SignalOf<'agent.told'>, rules: Rules): Step {
  const { at, news } = signal
  const overspent = goesOn(news) ? judgeBudget(session.spec.limits, session.spending) : null
  if (overspent !== null)
    return bringDown(session, at, { kind: 'end', outcome: 'stopped', reason: overspent, trouble: 'budget' }, rules)
  return take(session, signal)
}

/** The same, of an attempt that is being ended anyway. */
export function take(session: Session, { at, news }: SignalOf<'agent.told'>): Step {
  switch (news.type) {
    case 'began':
      return session.lastWord === null ? nothing(session) : step({ ...session, lastWord: null }, [])
    case 'tool-started':
    case 'tool-ended':
    case 'edited':
      return step({ ...session, activity: act(session.activity, news, at) }, [])
    case 'spent':
      return step(spend(session, news), [])
    case 'retrying':
      return step({ ...session, activity: { ...session.activity, retrying: news.failure } }, [
        { at, type: 'agent.retrying', failure: news.failure },
      ])
    case 'planned':
      return planned(session, news.tasks, at)
    case 'replanned':
      return replanned(session, news.tasks, at)
    case 'unknown':
      if (session.unknown.includes(news.what) || session.unknown.length >= MOST_UNKNOWN) return nothing(session)
      return step({ ...session, unknown: [...session.unknown, news.what] }, [
        { at, type: 'agent.unknown', what: news.what },
      ])
  }
}

/** Remembers the spending of the sessions that it has started; the budget is judged when it goes on itself. */
export function chargeChildren(session: Session, { charge }: SignalOf<'children.charged'>): Step {
  return step({ ...session, spending: { ...session.spending, children: charge } }, [])
}

function goesOn(news: News): boolean {
  return news.type === 'tool-started' || news.type === 'began' || news.type === 'retrying'
}

function act(activity: Activity, news: News, at: number): Activity {
  const { tools } = activity
  if (news.type === 'tool-started') {
    const { id, tool, gist } = news
    const others = tools.filter(open => open.id !== id)
    const open = { id, tool, gist: oneLine(gist).slice(0, LONGEST_GIST), since: at }
    return { ...activity, retrying: null, tools: [...others, open].slice(-MOST_TOOLS) }
  }
  if (news.type === 'tool-ended') return { ...activity, tools: tools.filter(open => open.id !== news.id) }
  return { ...activity, editedAt: at }
}

/**
 * A program that sums its tokens up may leave it to us to count its answers. A model that answers is there: what came before
 * was no more than an outage.
 */
function spend(session: Session, { scope, spending }: Extract<News, { type: 'spent' }>): Session {
  const ledger = session.spending
  const told = scope === 'thread' ? beyond(spending, ledger.threadBefore) : spending
  const attempt =
    scope === 'step' ? add(ledger.attempt, told) : { ...told, turns: Math.max(told.turns, ledger.attempt.turns) }
  const thread = scope === 'thread' ? spending : add(ledger.threadBefore, attempt)
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
