import type { Event } from '../core/events.ts'
import { describeExit } from '../core/judge-exit.ts'
import { formatDuration } from '../lib/time.ts'

/** What the transcript says about an event, as a line between the agent's own words; null for what it leaves out. */
export function narrate(event: Event): string | null {
  switch (event.type) {
    case 'attempt.launched':
      if (event.attempt === 1) return null
      return note(
        event.resume ? `attempt ${event.attempt}: the thread is resumed` : `attempt ${event.attempt}: started again`,
      )
    case 'attempt.failed-to-start':
      return note(`attempt ${event.attempt} could not be started: ${event.reason}`)
    case 'attempt.ended':
      return event.exit.kind === 'code' && event.exit.code === 0
        ? null
        : note(`attempt ${event.attempt}: ${describeExit(event.exit)}`)
    case 'session.resting':
      return note(`${event.reason}; next attempt in ${formatDuration(event.until - event.at)}`)
    case 'session.blocked':
      return note(`waiting for you: ${event.question}`)
    case 'session.stopping':
      return note(`${event.reason}: ${event.step}`)
    case 'session.ended':
      return note(`${event.outcome}: ${event.reason}`)
    default:
      return null
  }
}

function note(sentence: string): string {
  return `── ${sentence}\n`
}
