import { launchAttempt } from './launch.ts'
import { resetCounters } from './launch.ts'
import { type SessionIn, isIdle, excludeWaitingTime, type Session } from '../session.ts'
import type { SignalOf } from '../signals.ts'
import { unchanged, type Decision, makeDecision } from '../decision.ts'

/** A message is taken down; it is delivered when the turns before it are over. */
export function acceptMessage(session: Session, signal: SignalOf<'user.message'>): Decision {
  const { at, key, gist, by } = signal
  if (session.messages.some(message => message.key === key)) return unchanged(session)
  const id = (session.messages.at(-1)?.id ?? 0) + 1
  const message = {
    id,
    key,
    gist,
    ...(by !== undefined && { by }),
    acceptedAt: at,
    deliveredAt: null,
    confirmedAt: null,
  }
  return makeDecision({ ...session, messages: [...session.messages, message] }, [
    { at, type: 'message.accepted', message: id, gist },
  ])
}

/** A person who writes to a session that is being ended wants it to go on. A session does not undo a stop. */
export function acceptWhileStopping(session: SessionIn<'stopping'>, signal: SignalOf<'user.message'>): Decision {
  const accepted = acceptMessage(session, signal)
  const { phase } = session
  if (accepted.events.length === 0 || phase.next.kind !== 'end' || signal.by !== undefined) return accepted
  const next = { kind: 'next', reason: phase.next.reason } as const
  const { stoppedBy: _, ...wanted } = accepted.session
  return makeDecision({ ...wanted, wanted: 'run', phase: { ...phase, next } }, accepted.events)
}

/** A message to a session that has ended wakes it. What was broken off is not gone on with: the message says what is wanted. */
export function resumeWithMessage(session: SessionIn<'ended'>, signal: SignalOf<'user.message'>): Decision {
  const accepted = acceptMessage(session, signal)
  if (accepted.events.length === 0) return accepted
  return relaunchEnded({ ...accepted.session, isTurnOver: true }, signal, accepted)
}

/** Takes an ended session up again where it was left: what is unread is read, what was broken off goes on. */
export function resumeEnded(ended: SessionIn<'ended'>, signal: SignalOf<'user.resume'>): Decision {
  const session = withNewFolder(ended, signal)
  return relaunchEnded(session, signal, unchanged(session))
}

/** The person has done what was asked of them, or does not want to wait. */
export function resumeIdle(session: Session, signal: SignalOf<'user.resume'>): Decision {
  const { at } = signal
  if (!isIdle(session)) return unchanged(session)
  const woken = launchAttempt({ ...excludeWaitingTime(withNewFolder(session, signal), at), forgivenAt: at }, at)
  return { ...woken, events: [{ at, type: 'session.woken' }, ...woken.events] }
}

/** Its project may have been moved to another folder. */
function withNewFolder<S extends Session>(session: S, { cwd }: SignalOf<'user.resume'>): S {
  return cwd === undefined ? session : { ...session, spec: { ...session.spec, cwd } }
}

/** Changes what people call it, or where its project is. Nothing is started by this. */
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

/** Somebody else may have gone on in its conversation meanwhile. */
function relaunchEnded(
  session: Session,
  { at, heard }: SignalOf<'user.message' | 'user.resume'>,
  before: Decision,
): Decision {
  const thread = { ...session.thread, heard: heard ?? session.thread.heard }
  const woken = launchAttempt(resetCounters({ ...session, thread }, at), at)
  return makeDecision(woken.session, [...before.events, { at, type: 'session.woken' }, ...woken.events], woken.effects)
}
