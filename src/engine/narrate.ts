import type { Event } from '../core/events.ts'
import { describeEvent } from '../core/describe-event.ts'
import { describeExit } from '../core/judge-end.ts'
import { describeSpending } from '../core/spending.ts'
import { formatDuration } from '../lib/time.ts'

/** What the transcript says about an event, as a line between the agent's own words; null for what it leaves out. */
export function narrate(event: Event): string | null {
  switch (event.type) {
    case 'attempt.launched':
      if (event.errand === 'message' || event.attempt === 1) return null
      return note(
        `attempt ${event.attempt}: ${event.errand === 'digest' ? 'begins a new thread' : 'continues its thread'}`,
      )
    case 'message.delivered':
      if (event.attempt === 1) return null
      return note(
        `attempt ${event.attempt}: ${event.message === 1 ? 'started again' : `gets message ${event.message}`}`,
      )
    case 'message.accepted':
      return note(`message ${event.message} from you: ${event.gist}`)
    case 'thread.given-up':
      return note(`${event.reason}; a new thread continues with a summary of the work`)
    case 'session.woken':
      return note('resumed')
    case 'attempt.failed-to-start':
      return note(`attempt ${event.attempt} could not be started: ${event.reason}`)
    case 'attempt.ended':
      return joined(
        event.exit.kind === 'code' && event.exit.code === 0
          ? null
          : note(`attempt ${event.attempt}: ${describeExit(event.exit)}`),
        event.spent === undefined || event.spent.turns === 0
          ? null
          : note(`attempt ${event.attempt} used ${describeSpending(event.spent)}`),
      )
    case 'session.resting':
      return note(
        `${event.reason}; next attempt ${event.until > event.at ? `in ${formatDuration(event.until - event.at)}` : 'at once'}`,
      )
    case 'session.blocked':
      return note(`waiting for you: ${event.question}`)
    case 'session.stopping':
      return note(describeEvent(event))
    case 'session.ended':
      return note(`${event.outcome}: ${event.reason}`)
    default:
      return null
  }
}

function joined(...texts: (string | null)[]): string | null {
  const told = texts.filter(text => text !== null)
  return told.length === 0 ? null : told.join('')
}

function note(sentence: string): string {
  return `── ${sentence}\n`
}
