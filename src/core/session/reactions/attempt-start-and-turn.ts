import type { Event } from '../events.ts'
import { newAttempt, withAttempt } from '../attempt.ts'
import { excludeWaitingTime, type Session } from '../session-state.ts'
import type { SignalOf } from '../signals.ts'
import { unchanged, type Decision, makeDecision } from '../decision.ts'
import { type Message, type Thread, type TurnInput } from '../conversation.ts'
import type { Instant } from '../../../lib/time.ts'
import { describeExit } from '../../policy/exit-policy.ts'
import { NO_USAGE, addUsage, spentWithChildren } from '../usage.ts'

export function markRunning(session: Session, signal: SignalOf<'attempt.started'>): Decision {
  const { session: started, events } = recordProcess(session, signal)
  return makeDecision({ ...started, phase: { name: 'running', since: signal.at } }, events)
}

export function recordProcess(session: Session, signal: SignalOf<'attempt.started'>): Decision {
  const { process, attempt, at } = signal
  if (session.attempt.process !== null) return unchanged(session)
  const startedAt = session.startedAt ?? process.startedAt
  return makeDecision({ ...withAttempt(session, { process }), startedAt }, [
    { at, type: 'attempt.started', attempt, life: process },
  ])
}

export function recordThread(session: Session, { at, thread }: SignalOf<'agent.threaded'>): Decision {
  if (session.thread.id === thread) return unchanged(session)
  return makeDecision({ ...session, thread: { ...session.thread, id: thread } }, [{ at, type: 'thread.known', thread }])
}

/** Records the result of a turn. A turn that the agent calls successful proves that it read its input. */
export function recordTurnResult(session: Session, { at, result }: SignalOf<'agent.finished'>): Decision {
  const { session: heard, events } = result.ok ? confirmTurnInput(session, at) : unchanged(session)
  return makeDecision(withAttempt(heard, { result }), [...events, { at, type: 'turn.ended', word: result }])
}

/** Confirms messages by the agent's own record. A final record also shows the position of the next message. */
export function applyThreadRecord(session: Session, signal: SignalOf<'thread.surveyed'>): Decision {
  const { at, thread, messages, hasInput, isFinal } = signal
  const named = recordThread(session, { ...signal, type: 'agent.threaded', thread })
  const { session: read, events } = hasInput
    ? confirmTurnInput(named.session, at)
    : isFinal && messages >= session.thread.heard
      ? unconfirmTurnInput(named.session)
      : unchanged(named.session)
  // Nobody can continue in an empty thread, and some programs do not let anybody begin it again.
  if (isFinal && messages === 0 && !read.attempt.result?.ok)
    return makeDecision(startNewThread(read, at), [...named.events, ...events])
  const heard = isFinal ? messages : read.thread.heard
  const isSame = read === session && heard === read.thread.heard
  if (isSame) return unchanged(session)
  return makeDecision({ ...read, thread: { ...read.thread, heard, losses: hasInput ? 0 : read.thread.losses } }, [
    ...named.events,
    ...events,
  ])
}

/** Some agents remove their notes when a turn fails. The agent then has to get the unanswered input again. */
function unconfirmTurnInput(session: Session): { session: Session; events: Event[] } {
  const { input, result } = session.attempt
  if (input === null || !input.isConfirmed || result?.ok) return { session, events: [] }
  const messages = session.messages.map(message =>
    input.kind === 'message' && message.id === input.message ? { ...message, confirmedAt: null } : message,
  )
  const thread = input.kind === 'digest' ? { ...session.thread, needsDigest: true } : session.thread
  const unread = withAttempt(session, { input: { ...input, isConfirmed: false } })
  return { session: { ...unread, messages, thread }, events: [] }
}

function confirmTurnInput(session: Session, at: number): { session: Session; events: Event[] } {
  const { input } = session.attempt
  if (input === null || input.isConfirmed) return { session, events: [] }
  const read: Session = {
    ...withAttempt(session, { input: { ...input, isConfirmed: true } }),
    thread: { ...session.thread, needsDigest: false },
  }
  if (input.kind !== 'message') return { session: read, events: [] }
  const messages = session.messages.map(message =>
    message.id === input.message ? { ...message, confirmedAt: at } : message,
  )
  return { session: { ...read, messages }, events: [{ at, type: 'message.confirmed', message: input.message }] }
}

export function waitForAnswer(session: Session, { at, question }: SignalOf<'agent.asked'>): Decision {
  const phase = { name: 'waiting', since: at, question, trouble: 'approval' } as const
  return makeDecision({ ...session, phase }, [{ at, type: 'session.blocked', question, trouble: 'approval' }])
}

export function recordAnswer(session: Session, { at }: SignalOf<'agent.answered'>): Decision {
  return makeDecision({ ...excludeWaitingTime(session, at), phase: { name: 'running', since: at } }, [
    { at, type: 'session.unblocked' },
  ])
}

/** Launches the next attempt, also the first one of a session. */
export function launchAttempt(session: Session, at: Instant): Decision {
  const number = session.attempt.number + 1
  const input = nextTurnInput(session)
  const { spending, messages } = session
  const given = input?.kind === 'message' ? input.message : null
  const launched: Session = {
    ...session,
    attempt: newAttempt(number, input),
    messages: messages.map(message => (message.id === given ? { ...message, deliveredAt: at } : message)),
    spending: {
      ...spending,
      before: addUsage(spending.before, spending.attempt),
      attempt: NO_USAGE,
      threadBefore: spending.thread,
    },
    phase: { name: 'starting', since: at },
  }
  const events: Event[] = [
    {
      at,
      type: 'attempt.launched',
      attempt: number,
      resume: session.thread.id !== null,
      ...(input !== null && { errand: input.kind }),
    },
  ]
  if (given !== null) events.push({ at, type: 'message.delivered', message: given, attempt: number })
  return makeDecision(launched, events, [{ type: 'launch', attempt: number }])
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
  const isBrokenOff = wasSpokenTo && !session.attempt.isTurnOver && !isLastMessageUnread(session)
  if (unread === undefined || isBrokenOff) return { kind: 'continue', why, isConfirmed: false }
  return { kind: 'message', message: unread.id, isConfirmed: false }
}

/** Returns true if the last attempt got a message that it did not read. */
function isLastMessageUnread({ attempt: { input }, messages }: Session): boolean {
  return input?.kind === 'message' && !messages.some(message => message.id === input.message && isConfirmed(message))
}

export function firstUnread(session: Session): Message | undefined {
  return session.messages.find(message => !isConfirmed(message))
}

function isConfirmed(message: Message): boolean {
  return message.confirmedAt !== null
}

function interruptionReason({ phase, attempt: { exit, result } }: Session): string {
  if (phase.name === 'resting') return phase.reason
  if (phase.name === 'waiting' || phase.name === 'blocked') return phase.question
  if (phase.name === 'ended') return phase.reason
  if (result !== null && !result.ok) return result.failure.text
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
  const from = session.attempt.number + 1
  const thread: Thread = { id: null, number: number + 1, since: at, from, heard: 0, needsDigest: true, losses: 0 }
  return { ...session, thread, spending: { ...session.spending, thread: NO_USAGE } }
}
