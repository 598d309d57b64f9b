import type { Event } from './events.ts'
import { withFreshThread } from './fresh-thread.ts'
import { rested, type Session } from './session.ts'
import type { SignalOf } from './signals.ts'
import { nothing, type Step, step } from './step.ts'
import { isThreadId } from './thread-id.ts'

export function start(session: Session, signal: SignalOf<'attempt.started'>): Step {
  const { life, attempt, at } = signal
  return step(
    { ...session, life, startedAt: session.startedAt ?? life.startedAt, phase: { name: 'running', since: at } },
    [{ at, type: 'attempt.started', attempt, life }],
  )
}

export function rememberLife(session: Session, signal: SignalOf<'attempt.started'>): Step {
  const { life, attempt, at } = signal
  if (session.life !== null) return nothing(session)
  const startedAt = session.startedAt ?? life.startedAt
  return step({ ...session, life, startedAt }, [{ at, type: 'attempt.started', attempt, life }])
}

export function rememberThread(session: Session, { at, thread }: SignalOf<'agent.threaded'>): Step {
  if (session.thread.id === thread || !isThreadId(thread)) return nothing(session)
  return step({ ...session, thread: { ...session.thread, id: thread } }, [{ at, type: 'thread.known', thread }])
}

/** An end that the agent calls good proves that it read what it was given. */
export function rememberLastWord(session: Session, { at, word }: SignalOf<'agent.finished'>): Step {
  const { session: heard, events } = word.ok ? confirm(session, at) : nothing(session)
  return step({ ...heard, lastWord: word }, [...events, { at, type: 'turn.ended', word }])
}

/**
 * The agent's own record shows what it has read. Looked up when nobody writes in it any more, it also tells where the next
 * message will stand.
 */
export function rememberRecord(session: Session, signal: SignalOf<'thread.surveyed'>): Step {
  const { at, thread, messages, hasErrand, isFinal } = signal
  const named = rememberThread(session, { ...signal, type: 'agent.threaded', thread })
  const { session: read, events } = hasErrand
    ? confirm(named.session, at)
    : isFinal && messages >= session.thread.heard
      ? doubt(named.session)
      : nothing(named.session)
  // In a thread in which nothing was said nobody can go on, and some programs do not let anybody begin it again.
  if (isFinal && messages === 0 && !read.lastWord?.ok)
    return step(withFreshThread(read, at), [...named.events, ...events])
  const heard = isFinal ? messages : read.thread.heard
  const isSame = read === session && heard === read.thread.heard
  if (isSame) return nothing(session)
  return step({ ...read, thread: { ...read.thread, heard, losses: hasErrand ? 0 : read.thread.losses } }, [
    ...named.events,
    ...events,
  ])
}

/** Some agents take back what they wrote down when a turn fails. What was not answered then has to be given again. */
function doubt(session: Session): { session: Session; events: Event[] } {
  const { errand, lastWord } = session
  if (errand === null || !errand.isConfirmed || lastWord?.ok) return { session, events: [] }
  const messages = session.messages.map(message =>
    errand.kind === 'message' && message.id === errand.message ? { ...message, confirmedAt: null } : message,
  )
  const thread = errand.kind === 'digest' ? { ...session.thread, needsDigest: true } : session.thread
  return { session: { ...session, messages, thread, errand: { ...errand, isConfirmed: false } }, events: [] }
}

function confirm(session: Session, at: number): { session: Session; events: Event[] } {
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

export function block(session: Session, { at, question }: SignalOf<'agent.asked'>): Step {
  const phase = { name: 'blocked', since: at, question, trouble: 'approval', isIdle: false } as const
  return step({ ...session, phase }, [{ at, type: 'session.blocked', question, trouble: 'approval' }])
}

export function unblock(session: Session, { at }: SignalOf<'agent.answered'>): Step {
  return step({ ...rested(session, at), phase: { name: 'running', since: at } }, [{ at, type: 'session.unblocked' }])
}
