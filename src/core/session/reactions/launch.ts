import type { Instant } from '../../../lib/time.ts'
import type { Event } from '../events.ts'
import { describeExit } from '../../policy/classify-exit.ts'
import type { Message, Thread, TurnInput } from '../conversation.ts'
import type { Session } from '../session.ts'
import { NO_USAGE, addUsage, spentWithChildren } from '../usage.ts'
import { type Decision, makeDecision } from '../decision.ts'

/** Launches the next attempt, also the first one of a session. */
export function launchAttempt(session: Session, at: Instant): Decision {
  const attempt = session.attempt + 1
  const turnInput = nextTurnInput(session)
  const { spending, messages } = session
  const given = turnInput?.kind === 'message' ? turnInput.message : null
  const fresh: Session = {
    ...session,
    attempt,
    errand: turnInput,
    messages: messages.map(message => (message.id === given ? { ...message, deliveredAt: at } : message)),
    isTurnOver: false,
    activity: { tools: [], editedAt: null, retrying: null },
    spending: {
      ...spending,
      before: addUsage(spending.before, spending.attempt),
      attempt: NO_USAGE,
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
      ...(turnInput !== null && { errand: turnInput.kind }),
    },
  ]
  if (given !== null) events.push({ at, type: 'message.delivered', message: given, attempt })
  return makeDecision(fresh, events, [{ type: 'launch', attempt }])
}

/**
 * Returns the input of the next attempt. A turn that was interrupted after the agent had read its message continues
 * before the next message. A message that the agent's record does not show was never read, so the agent gets it again.
 */
function nextTurnInput(session: Session): TurnInput | null {
  const { messages, thread } = session
  if (messages.length === 0) return null
  const wasSpokenTo = messages.some(isConfirmed)
  const why = interruptionReason(session)
  if (thread.needsDigest && wasSpokenTo) return { kind: 'digest', why, isConfirmed: false }
  const unread = firstUnread(session)
  const isBrokenOff = wasSpokenTo && !session.isTurnOver && !isLastMessageUnread(session)
  if (unread === undefined || isBrokenOff) return { kind: 'continue', why, isConfirmed: false }
  return { kind: 'message', message: unread.id, isConfirmed: false }
}

/** Returns true if the last attempt got a message that it did not read. */
function isLastMessageUnread({ errand, messages }: Session): boolean {
  return errand?.kind === 'message' && !messages.some(message => message.id === errand.message && isConfirmed(message))
}

export function firstUnread(session: Session): Message | undefined {
  return session.messages.find(message => !isConfirmed(message))
}

function isConfirmed(message: Message): boolean {
  return message.confirmedAt !== null
}

function interruptionReason({ phase, exit, lastWord }: Session): string {
  if (phase.name === 'resting') return phase.reason
  if (phase.name === 'blocked') return phase.question
  if (phase.name === 'ended') return phase.reason
  if (lastWord !== null && !lastWord.ok) return lastWord.failure.text
  return exit === null ? 'it was interrupted' : describeExit(exit)
}

/** Resets the session's time, budget and restarts, because somebody wants it to continue. */
export function resetCounters(session: Session, at: Instant): Session {
  const spending = { ...session.spending, waived: spentWithChildren(session.spending) }
  const { stoppedBy: _, ...wanted } = session
  return { ...wanted, wanted: 'run', forgivenAt: at, outages: 0, limitedSince: null, clockSince: at, spending }
}

/** Gives the session a new thread from its next attempt on. The thread first gets a digest of the earlier ones. */
export function startNewThread(session: Session, at: Instant): Session {
  const { number } = session.thread
  const from = session.attempt + 1
  const thread: Thread = { id: null, number: number + 1, since: at, from, heard: 0, needsDigest: true, losses: 0 }
  return { ...session, thread, spending: { ...session.spending, thread: NO_USAGE } }
}
