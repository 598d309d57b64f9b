import type { Event } from '../session/events.ts'
import { describeEvent } from './event.ts'
import { describeExit } from '../policy/exit-policy.ts'
import { describeUsage } from '../session/usage.ts'
import { formatDuration } from '../../lib/time.ts'

/**
 * Returns the transcript's line about an event, between the agent's own words; null if the transcript leaves it out.
 */
export function transcriptNote(event: Event): string | null {
  switch (event.type) {
    case 'attempt.launched':
      if (event.errand === 'message' || event.attempt === 1) return null
      return formatNote(
        `attempt ${event.attempt}: ${event.errand === 'digest' ? 'begins a new thread' : 'continues its thread'}`,
      )
    case 'message.delivered':
      if (event.attempt === 1) return null
      return formatNote(
        `attempt ${event.attempt}: ${event.message === 1 ? 'started again' : `gets message ${event.message}`}`,
      )
    case 'message.accepted':
      return formatNote(`message ${event.message} from you: ${event.gist}`)
    case 'thread.given-up':
      return formatNote(`${event.reason}; a new thread continues with a summary of the work`)
    case 'session.woken':
      return formatNote('resumed')
    case 'attempt.failed-to-start':
      return formatNote(`attempt ${event.attempt} could not be started: ${event.reason}`)
    case 'attempt.ended':
      return joinNotes(
        event.exit.kind === 'code' && event.exit.code === 0
          ? null
          : formatNote(`attempt ${event.attempt}: ${describeExit(event.exit)}`),
        event.spent === undefined || event.spent.turns === 0
          ? null
          : formatNote(`attempt ${event.attempt} used ${describeUsage(event.spent)}`),
      )
    case 'session.resting':
      return formatNote(
        `${event.reason}; next attempt ${event.until > event.at ? `in ${formatDuration(event.until - event.at)}` : 'at once'}`,
      )
    case 'session.blocked':
      return formatNote(`waiting for you: ${event.question}`)
    case 'session.stopping':
      return formatNote(describeEvent(event))
    case 'session.ended':
      return formatNote(`${event.outcome}: ${event.reason}`)
    default:
      return null
  }
}

function joinNotes(...texts: (string | null)[]): string | null {
  const notes = texts.filter(text => text !== null)
  return notes.length === 0 ? null : notes.join('')
}

function formatNote(sentence: string): string {
  return `── ${sentence}\n`
}

/** Removes our notes from a transcript, because they are of no use to the agent. */
export function stripTranscriptNotes(transcript: string): string {
  const lines = transcript.split('\n').filter(line => !line.startsWith('── '))
  return lines.join('\n').trim()
}
