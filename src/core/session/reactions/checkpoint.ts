import type { Instant } from '../../../lib/time.ts'
import { stripCredentials } from '../../../lib/mask/strip-url-credentials.ts'
import type { CheckpointStatus, CheckpointTrigger } from '../../checkpoint/checkpoint.ts'
import type { Event } from '../events.ts'
import { isIdle, type Session } from '../session-state.ts'
import type { SignalOf } from '../signals.ts'
import { unchanged, type Decision, makeDecision } from '../decision.ts'

export function recordCheckpoint(session: Session, { at, checkpoint }: SignalOf<'checkpoint.saved'>): Decision {
  const { number, commit, trigger, leftOut } = checkpoint
  const last = { number, commit, at: checkpoint.at, trigger, ...(leftOut.length > 0 && { leftOut }) }
  return makeDecision(withCheckpointStatus(session, { last, trouble: null, wanted: requestedSince(session, at) }), [
    { at, type: 'checkpoint.saved', checkpoint },
  ])
}

/** A file that cannot be saved makes no new checkpoint, but the status must name it. */
export function recordUnneededCheckpoint(session: Session, { at, leftOut }: SignalOf<'checkpoint.unneeded'>): Decision {
  const { trouble, wanted, last } = session.saved
  const isSame = last === null || leftOut === undefined || isSameList(leftOut, last.leftOut ?? [])
  if (trouble === null && wanted === null && isSame) return unchanged(session)
  const news = { trouble: null, wanted: requestedSince(session, at), ...(isSame ? {} : { last: { ...last, leftOut } }) }
  return makeDecision(withCheckpointStatus(session, news), [])
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((sentence, at) => sentence === other[at])
}

/** Reports the same problem once, however often it occurs. */
export function recordFailedCheckpoint(
  session: Session,
  { at, reason, isFinal }: SignalOf<'checkpoint.failed'>,
): Decision {
  const { trouble, wanted } = session.saved
  const isKnown = trouble === reason
  if (isKnown && !(isFinal && wanted !== null)) return unchanged(session)
  const next = isFinal ? null : wanted
  const events: Event[] = isKnown ? [] : [{ at, type: 'checkpoint.failed', reason }]
  return makeDecision(withCheckpointStatus(session, { trouble: reason, wanted: next }), events)
}

/**
 * Returns the request for a checkpoint that came after the saved moment, or null: the saved checkpoint does not cover
 * it.
 */
function requestedSince({ saved }: Session, savedAt: Instant): CheckpointStatus['wanted'] {
  return saved.wanted !== null && saved.wanted.at > savedAt ? saved.wanted : null
}

/** Reports the first successful push, and the first one after a failure. */
export function recordPush(session: Session, { at, number, note }: SignalOf<'checkpoint.pushed'>): Decision {
  const remote = displayRemote(session)
  if (remote === null) return unchanged(session)
  const { pushed, pushTrouble } = session.saved
  const isNews = pushed === null || pushTrouble !== null
  const events: Event[] = isNews ? [{ at, type: 'checkpoint.pushed', remote, number }] : []
  const noted: Event[] = note === undefined ? [] : [{ at, type: 'session.noted', note }]
  const news = { pushed: { number, at }, pushTrouble: null, ...(note !== undefined && { pushNote: note }) }
  return makeDecision(withCheckpointStatus(session, news), [...events, ...noted])
}

export function recordFailedPush(session: Session, { at, reason }: SignalOf<'checkpoint.unpushed'>): Decision {
  const remote = displayRemote(session)
  if (remote === null || session.saved.pushTrouble === reason) return unchanged(session)
  return makeDecision(withCheckpointStatus(session, { pushTrouble: reason }), [
    { at, type: 'checkpoint.unpushed', remote, reason },
  ])
}

/** Returns the remote without credentials. */
function displayRemote({ spec }: Session): string | null {
  return spec.supervision.saving.push === null ? null : stripCredentials(spec.supervision.saving.push)
}

/** More notes than this tell a reader nothing new. */
const MOST_NOTES = 20

export function recordNote(session: Session, { at, note }: SignalOf<'trouble.noted'>): Decision {
  const { notes } = session
  if (notes.includes(note) || notes.length >= MOST_NOTES) return unchanged(session)
  return makeDecision({ ...session, notes: [...notes, note] }, [{ at, type: 'session.noted', note }])
}

function withCheckpointStatus(session: Session, news: Partial<CheckpointStatus>): Session {
  return { ...session, saved: { ...session.saved, ...news } }
}

/** Adds a request for a checkpoint to the decision if something ended or the session moves on. */
export function requestCheckpoint(decided: Decision, before: Session): Decision {
  const { session, events } = decided
  if (session.spec.supervision.saving.mode === 'off') return decided
  const requests = events.flatMap(event => {
    const trigger = triggerOf(session, event, before)
    return trigger === null ? [] : [{ trigger, at: event.at }]
  })
  const wanted = requests.find(({ trigger }) => trigger !== 'news') ?? requests[0]
  return wanted === undefined ? decided : { ...decided, session: { ...session, saved: { ...session.saved, wanted } } }
}

function triggerOf(session: Session, event: Event, { phase }: Session): CheckpointTrigger | null {
  switch (event.type) {
    case 'session.ended':
      return event.outcome === 'done' ? 'end' : event.outcome === 'stopped' ? 'stop' : 'error'
    case 'session.blocked':
      // A live attempt has not ended anything.
      return !isIdle(session) ? null : event.trouble === 'held' ? 'stop' : 'error'
    case 'session.resting':
      return event.cause === 'crash' || event.cause === 'reboot' ? 'restart' : 'error'
    case 'session.woken':
      return 'start'
    case 'message.accepted':
      return isPushed(session) ? 'news' : null
    case 'task.changed':
      return isPushed(session) && event.task.state === 'done' ? 'news' : null
    case 'attempt.launched':
      // A turn is over, and the agent gets the next message.
      return 'next' in phase && phase.next.kind === 'next' ? 'end' : null
    default:
      return null
  }
}

/** Returns true if somebody who has only the pushed checkpoints may continue the session. */
function isPushed({ spec, saved }: Session): boolean {
  return spec.supervision.saving.push !== null && saved.last !== null
}
