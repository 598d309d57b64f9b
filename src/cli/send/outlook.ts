import type { MessageView, SessionView } from '../../api/contract/session-view.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import type { Instant } from '../../lib/time.ts'
import { waysToAnswer } from '../../views/way-on.ts'
import { relative } from '../screen/when.ts'

export interface Sent {
  readonly message: MessageView
  /** As it was before, and is now. */
  readonly before: SessionView
  readonly session: SessionView
  /** Messages before this one that nobody was given yet. */
  readonly ahead: readonly MessageView[]
}

/** What will become of a message, in one sentence. */
export function outlook({ message, before, session, ahead }: Sent, now: Instant): string {
  const accepted = `message ${message.number} accepted`
  const { name, phase } = session
  const queued = ahead.length === 0 ? null : `after ${numbered(ahead)}`
  if (phase === 'blocked') {
    const question = oneLine(session.reason ?? 'it waits for you')
    return `${accepted}, but ${name} is ${question} (${waysToAnswer(session)})`
  }
  if (phase === 'resting' && session.until !== null) {
    const when = relative(session.until, now)
    return `${accepted}; ${name} rests and continues ${when}, then it is delivered (at once: oneshot resume ${name})`
  }
  if (before.phase === 'ended') return `${accepted}; ${name} starts again and gets it ${queued ?? 'now'}`
  if (phase === 'stopping') return `${accepted}; it is delivered ${queued ?? `as soon as ${ending(session)} is over`}`
  return `${accepted}; it is delivered ${queued ?? 'when the current turn ends'}`
}

function ending({ attempt }: SessionView): string {
  return `attempt ${attempt}, which is ending,`
}

function numbered(messages: readonly MessageView[]): string {
  const numbers = messages.map(({ number }) => number)
  return numbers.length === 1 ? `message ${numbers[0]}` : `messages ${numbers.join(', ')}`
}
