import type { Instant } from '../lib/time.ts'
import type { Event } from './events.ts'
import { describeExit } from './judge-end.ts'
import type { Errand, Message } from './conversation.ts'
import type { Session } from './session.ts'
import { add, NOTHING_SPENT } from './spending.ts'
import { type Step, step } from './step.ts'

/** Opens the next attempt. Also how a session begins. */
export function launch(session: Session, at: Instant): Step {
  const attempt = session.attempt + 1
  const errand = nextErrand(session)
  const { spending, messages } = session
  const given = errand?.kind === 'message' ? errand.message : null
  const fresh: Session = {
    ...session,
    attempt,
    errand,
    messages: messages.map(message => (message.id === given ? { ...message, deliveredAt: at } : message)),
    isTurnOver: false,
    activity: { tools: [], editedAt: null, retrying: null },
    spending: {
      ...spending,
      before: add(spending.before, spending.attempt),
      attempt: NOTHING_SPENT,
      threadBefore: spending.thread,
    },
    life: null,
    exit: null,
    lastWord: null,
    bookmark: { ...session.bookmark, output: 0, memory: {} },
    phase: { name: 'starting', since: at },
  }
  const events: Event[] = [
    {
      at,
      type: 'attempt.launched',
      attempt,
      resume: session.thread.id !== null,
      ...(errand !== null && { errand: errand.kind }),
    },
  ]
  if (given !== null) events.push({ at, type: 'message.delivered', message: given, attempt })
  return step(fresh, events, [{ type: 'launch', attempt }])
}

/**
 * What the next attempt is given. A turn that was broken off after the agent had read its message goes on; only then comes
 * the next message. One that the agent's record does not show was never read, and is given again.
 */
function nextErrand(session: Session): Errand | null {
  const { messages, thread } = session
  if (messages.length === 0) return null
  const wasSpokenTo = messages.some(isConfirmed)
  const why = whyBroken(session)
  if (thread.needsDigest && wasSpokenTo) return { kind: 'digest', why, isConfirmed: false }
  const unread = firstUnread(session)
  const isBrokenOff = wasSpokenTo && !session.isTurnOver && !isUnread(session)
  if (unread === undefined || isBrokenOff) return { kind: 'continue', why, isConfirmed: false }
  return { kind: 'message', message: unread.id, isConfirmed: false }
}

/** Whether the last attempt was given a message that it did not read. */
function isUnread({ errand, messages }: Session): boolean {
  return errand?.kind === 'message' && !messages.some(message => message.id === errand.message && isConfirmed(message))
}

export function firstUnread(session: Session): Message | undefined {
  return session.messages.find(message => !isConfirmed(message))
}

function isConfirmed(message: Message): boolean {
  return message.confirmedAt !== null
}

function whyBroken({ phase, exit, lastWord }: Session): string {
  if (phase.name === 'resting') return phase.reason
  if (phase.name === 'blocked') return phase.question
  if (phase.name === 'ended') return phase.reason
  if (lastWord !== null && !lastWord.ok) return lastWord.failure.text
  return exit === null ? 'it was interrupted' : describeExit(exit)
}
