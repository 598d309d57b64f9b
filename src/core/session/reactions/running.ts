import type { Event } from '../events.ts'
import { startNewThread } from './launch.ts'
import { excludeWaitingTime, type Session } from '../session.ts'
import type { SignalOf } from '../signals.ts'
import { unchanged, type Decision, makeDecision } from '../decision.ts'
import { isThreadId } from '../conversation.ts'

export function markRunning(session: Session, signal: SignalOf<'attempt.started'>): Decision {
  const { life, attempt, at } = signal
  return makeDecision(
    { ...session, life, startedAt: session.startedAt ?? life.startedAt, phase: { name: 'running', since: at } },
    [{ at, type: 'attempt.started', attempt, life }],
  )
}

export function recordProcess(session: Session, signal: SignalOf<'attempt.started'>): Decision {
  const { life, attempt, at } = signal
  if (session.life !== null) return unchanged(session)
  const startedAt = session.startedAt ?? life.startedAt
  return makeDecision({ ...session, life, startedAt }, [{ at, type: 'attempt.started', attempt, life }])
}

export function recordThread(session: Session, { at, thread }: SignalOf<'agent.threaded'>): Decision {
  if (session.thread.id === thread || !isThreadId(thread)) return unchanged(session)
  return makeDecision({ ...session, thread: { ...session.thread, id: thread } }, [{ at, type: 'thread.known', thread }])
}

/** Records the result of a turn. A turn that the agent calls successful proves that it read its input. */
export function recordTurnResult(session: Session, { at, word }: SignalOf<'agent.finished'>): Decision {
  const { session: heard, events } = word.ok ? confirmTurnInput(session, at) : unchanged(session)
  return makeDecision({ ...heard, lastWord: word }, [...events, { at, type: 'turn.ended', word }])
}

/** Confirms messages by the agent's own record. A final record also shows the position of the next message. */
export function applyThreadRecord(session: Session, signal: SignalOf<'thread.surveyed'>): Decision {
  const { at, thread, messages, hasErrand, isFinal } = signal
  const named = recordThread(session, { ...signal, type: 'agent.threaded', thread })
  const { session: read, events } = hasErrand
    ? confirmTurnInput(named.session, at)
    : isFinal && messages >= session.thread.heard
      ? unconfirmTurnInput(named.session)
      : unchanged(named.session)
  // Nobody can continue in an empty thread, and some programs do not let anybody begin it again.
  if (isFinal && messages === 0 && !read.lastWord?.ok)
    return makeDecision(startNewThread(read, at), [...named.events, ...events])
  const heard = isFinal ? messages : read.thread.heard
  const isSame = read === session && heard === read.thread.heard
  if (isSame) return unchanged(session)
  return makeDecision({ ...read, thread: { ...read.thread, heard, losses: hasErrand ? 0 : read.thread.losses } }, [
    ...named.events,
    ...events,
  ])
}

/** Some agents remove their notes when a turn fails. The agent then has to get the unanswered input again. */
function unconfirmTurnInput(session: Session): { session: Session; events: Event[] } {
  const { errand, lastWord } = session
  if (errand === null || !errand.isConfirmed || lastWord?.ok) return { session, events: [] }
  const messages = session.messages.map(message =>
    errand.kind === 'message' && message.id === errand.message ? { ...message, confirmedAt: null } : message,
  )
  const thread = errand.kind === 'digest' ? { ...session.thread, needsDigest: true } : session.thread
  return { session: { ...session, messages, thread, errand: { ...errand, isConfirmed: false } }, events: [] }
}

function confirmTurnInput(session: Session, at: number): { session: Session; events: Event[] } {
  const { errand, thread } = session
  if (errand === null || errand.isConfirmed) return { session, events: [] }
  const read: Session = {
    ...session,
    errand: { ...errand, isConfirmed: true },
    thread: { ...thread, needsDigest: false },
  }
  if (errand.kind !== 'message') return { session: read, events: [] }
  const messages = session.messages.map(message =>
    message.id === errand.message ? { ...message, confirmedAt: at } : message,
  )
  return { session: { ...read, messages }, events: [{ at, type: 'message.confirmed', message: errand.message }] }
}

export function blockForApproval(session: Session, { at, question }: SignalOf<'agent.asked'>): Decision {
  const phase = { name: 'blocked', since: at, question, trouble: 'approval', isIdle: false } as const
  return makeDecision({ ...session, phase }, [{ at, type: 'session.blocked', question, trouble: 'approval' }])
}

export function unblock(session: Session, { at }: SignalOf<'agent.answered'>): Decision {
  return makeDecision({ ...excludeWaitingTime(session, at), phase: { name: 'running', since: at } }, [
    { at, type: 'session.unblocked' },
  ])
}
