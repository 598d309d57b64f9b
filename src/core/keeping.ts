import type { Saved } from './checkpoint.ts'
import type { Event } from './events.ts'
import type { Session } from './session.ts'
import type { SignalOf } from './signals.ts'
import { nothing, type Step, step } from './step.ts'

export function rememberCheckpoint(session: Session, { at, checkpoint }: SignalOf<'checkpoint.saved'>): Step {
  const { number, commit, trigger } = checkpoint
  const last = { number, commit, at: checkpoint.at, trigger }
  return step(withSaved(session, { last, trouble: null }), [{ at, type: 'checkpoint.saved', checkpoint }])
}

/** The same trouble is told once, however often it is met. */
export function rememberFailure(session: Session, { at, reason }: SignalOf<'checkpoint.failed'>): Step {
  if (session.saved.trouble === reason) return nothing(session)
  return step(withSaved(session, { trouble: reason }), [{ at, type: 'checkpoint.failed', reason }])
}

/** Told when it begins to work, or works again. */
export function rememberPush(session: Session, { at, number }: SignalOf<'checkpoint.pushed'>): Step {
  const remote = session.spec.saving.push
  if (remote === null) return nothing(session)
  const { pushed, pushTrouble } = session.saved
  const isNews = pushed === null || pushTrouble !== null
  const events: Event[] = isNews ? [{ at, type: 'checkpoint.pushed', remote, number }] : []
  return step(withSaved(session, { pushed: { number, at }, pushTrouble: null }), events)
}

export function rememberFailedPush(session: Session, { at, reason }: SignalOf<'checkpoint.unpushed'>): Step {
  const remote = session.spec.saving.push
  if (remote === null || session.saved.pushTrouble === reason) return nothing(session)
  return step(withSaved(session, { pushTrouble: reason }), [{ at, type: 'checkpoint.unpushed', remote, reason }])
}

/** More kinds of trouble than this say nothing new. */
const MOST_NOTES = 20

export function noteTrouble(session: Session, { at, note }: SignalOf<'trouble.noted'>): Step {
  const { notes } = session
  if (notes.includes(note) || notes.length >= MOST_NOTES) return nothing(session)
  return step({ ...session, notes: [...notes, note] }, [{ at, type: 'session.noted', note }])
}

function withSaved(session: Session, news: Partial<Saved>): Session {
  return { ...session, saved: { ...session.saved, ...news } }
}
