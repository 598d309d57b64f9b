import { launchAttempt } from './attempt-start-and-turn.ts'
import { resetCounters } from './attempt-start-and-turn.ts'
import {
  type SessionIn,
  type FinishingSession,
  type IdleSession,
  excludeWaitingTime,
  type Session,
} from '../session-state.ts'
import { withAttempt } from '../attempt.ts'
import type { SignalOf } from '../signals.ts'
import { unchanged, type Decision, makeDecision } from '../decision.ts'

/** Accepts a message. oneshot delivers it when the turns before it are over. */
export function acceptMessage(session: Session, signal: SignalOf<'user.message'>): Decision {
  const { at, key, summary, by } = signal
  if (session.messages.some(message => message.key === key)) return unchanged(session)
  const id = (session.messages.at(-1)?.id ?? 0) + 1
  const message = {
    id,
    key,
    summary,
    ...(by !== undefined && { by }),
    acceptedAt: at,
    deliveredAt: null,
    confirmedAt: null,
  }
  return makeDecision({ ...session, messages: [...session.messages, message] }, [
    { at, type: 'message.accepted', message: id, gist: summary },
  ])
}

/** A person who writes to a session that is about to end wants it to continue. A session's message does not undo a stop. */
export function acceptWhileFinishing(session: FinishingSession, signal: SignalOf<'user.message'>): Decision {
  const accepted = acceptMessage(session, signal)
  const { phase } = session
  if (accepted.events.length === 0 || phase.next.kind !== 'end' || signal.by !== undefined) return accepted
  const next = { kind: 'next', reason: phase.next.reason } as const
  const { stoppedBy: _, ...wanted } = accepted.session
  return makeDecision({ ...wanted, wanted: 'run', phase: { ...phase, next } }, accepted.events)
}

/**
 * Resumes an ended session with a message. The interrupted turn does not continue: the message says what the user
 * wants.
 */
export function resumeWithMessage(session: SessionIn<'ended'>, signal: SignalOf<'user.message'>): Decision {
  const accepted = acceptMessage(session, signal)
  if (accepted.events.length === 0) return accepted
  return relaunchEnded(withAttempt(accepted.session, { isTurnOver: true }), signal, accepted)
}

/** Resumes an ended session where it stopped: the agent reads unread messages and continues an interrupted turn. */
export function resumeEnded(ended: SessionIn<'ended'>, signal: SignalOf<'user.resume'>): Decision {
  const session = withNewFolder(ended, signal)
  return relaunchEnded(session, signal, unchanged(session))
}

/** Resumes an idle session: the person has done what it asked for, or does not want to wait. */
export function resumeIdle(session: IdleSession, signal: SignalOf<'user.resume'>): Decision {
  const { at } = signal
  const woken = launchAttempt({ ...excludeWaitingTime(withNewFolder(session, signal), at), forgivenAt: at }, at)
  return { ...woken, events: [{ at, type: 'session.woken' }, ...woken.events] }
}

/** The user may have moved the project to another folder. */
function withNewFolder<S extends Session>(session: S, { cwd }: SignalOf<'user.resume'>): S {
  return cwd === undefined ? session : { ...session, spec: { ...session.spec, cwd } }
}

/** Changes the session's display name, or the folder of its project. Starts nothing. */
export function amendSession(session: Session, { at, label, cwd }: SignalOf<'user.amend'>): Decision {
  const spec = { ...session.spec, ...(label !== undefined && { label }), ...(cwd !== undefined && { cwd }) }
  const notes = [
    ...(label === undefined ? [] : [`renamed to ${label}`]),
    ...(cwd === undefined ? [] : [`its project is now in ${cwd}`]),
  ]
  return makeDecision(
    { ...session, spec },
    notes.map(note => ({ at, type: 'session.noted', note })),
  )
}

/** Somebody else may have continued the conversation meanwhile. */
function relaunchEnded(
  session: Session,
  { at, heard }: SignalOf<'user.message' | 'user.resume'>,
  before: Decision,
): Decision {
  const thread = { ...session.thread, heard: heard ?? session.thread.heard }
  const woken = launchAttempt(resetCounters({ ...session, thread }, at), at)
  return makeDecision(woken.session, [...before.events, { at, type: 'session.woken' }, ...woken.events], woken.effects)
}
