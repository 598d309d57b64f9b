import { launch } from './launch.ts'
import { renewed } from './renewed.ts'
import { type In, isIdle, rested, type Session } from './session.ts'
import type { SignalOf } from './signals.ts'
import { nothing, type Step, step } from './step.ts'

/** A message is taken down; it is delivered when the turns before it are over. */
export function accept(session: Session, signal: SignalOf<'user.message'>): Step {
  const { at, key, gist, by } = signal
  if (session.messages.some(message => message.key === key)) return nothing(session)
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
  return step({ ...session, messages: [...session.messages, message] }, [
    { at, type: 'message.accepted', message: id, gist },
  ])
}

/** A person who writes to a session that is being ended wants it to go on. A session does not undo a stop. */
export function acceptInstead(session: In<'stopping'>, signal: SignalOf<'user.message'>): Step {
  const accepted = accept(session, signal)
  const { phase } = session
  if (accepted.events.length === 0 || phase.next.kind !== 'end' || signal.by !== undefined) return accepted
  const next = { kind: 'next', reason: phase.next.reason } as const
  const { stoppedBy: _, ...wanted } = accepted.session
  return step({ ...wanted, wanted: 'run', phase: { ...phase, next } }, accepted.events)
}

/** A message to a session that has ended wakes it. What was broken off is not gone on with: the message says what is wanted. */
export function wakeToRead(session: In<'ended'>, signal: SignalOf<'user.message'>): Step {
  const accepted = accept(session, signal)
  if (accepted.events.length === 0) return accepted
  return wake({ ...accepted.session, isTurnOver: true }, signal, accepted)
}

/** Takes an ended session up again where it was left: what is unread is read, what was broken off goes on. */
export function wakeToGoOn(ended: In<'ended'>, signal: SignalOf<'user.resume'>): Step {
  const session = moved(ended, signal)
  return wake(session, signal, nothing(session))
}

/** The person has done what was asked of them, or does not want to wait. */
export function goOn(session: Session, signal: SignalOf<'user.resume'>): Step {
  const { at } = signal
  if (!isIdle(session)) return nothing(session)
  const woken = launch({ ...rested(moved(session, signal), at), forgivenAt: at }, at)
  return { ...woken, events: [{ at, type: 'session.woken' }, ...woken.events] }
}

/** Its project may have been moved to another folder. */
function moved<S extends Session>(session: S, { cwd }: SignalOf<'user.resume'>): S {
  return cwd === undefined ? session : { ...session, spec: { ...session.spec, cwd } }
}

/** Changes what people call it, or where its project is. Nothing is started by this. */
export function amend(session: Session, { at, label, cwd }: SignalOf<'user.amend'>): Step {
  const spec = { ...session.spec, ...(label !== undefined && { label }), ...(cwd !== undefined && { cwd }) }
  const notes = [
    ...(label === undefined ? [] : [`renamed to ${label}`]),
    ...(cwd === undefined ? [] : [`its project is now in ${cwd}`]),
  ]
  return step(
    { ...session, spec },
    notes.map(note => ({ at, type: 'session.noted', note })),
  )
}

/** Somebody else may have gone on in its conversation meanwhile. */
function wake(session: Session, { at, heard }: SignalOf<'user.message' | 'user.resume'>, before: Step): Step {
  const thread = { ...session.thread, heard: heard ?? session.thread.heard }
  const woken = launch(renewed({ ...session, thread }, at), at)
  return step(woken.session, [...before.events, { at, type: 'session.woken' }, ...woken.events], woken.effects)
}
