import type { Instant } from '../lib/time.ts'
import { withoutLogin } from '../lib/without-login.ts'
import type { Saved } from './checkpoint.ts'
import type { Event } from './events.ts'
import type { Session } from './session.ts'
import type { SignalOf } from './signals.ts'
import { nothing, type Step, step } from './step.ts'

export function rememberCheckpoint(session: Session, { at, checkpoint }: SignalOf<'checkpoint.saved'>): Step {
  const { number, commit, trigger, leftOut } = checkpoint
  const last = { number, commit, at: checkpoint.at, trigger, ...(leftOut.length > 0 && { leftOut }) }
  return step(withSaved(session, { last, trouble: null, wanted: stillWanted(session, at) }), [
    { at, type: 'checkpoint.saved', checkpoint },
  ])
}

export function rememberNothing(session: Session, { at }: SignalOf<'checkpoint.unneeded'>): Step {
  const { trouble, wanted } = session.saved
  if (trouble === null && wanted === null) return nothing(session)
  return step(withSaved(session, { trouble: null, wanted: stillWanted(session, at) }), [])
}

/** The same trouble is told once, however often it is met. */
export function rememberFailure(session: Session, { at, reason, isFinal }: SignalOf<'checkpoint.failed'>): Step {
  const { trouble, wanted } = session.saved
  const isKnown = trouble === reason
  if (isKnown && !(isFinal && wanted !== null)) return nothing(session)
  const next = isFinal ? null : wanted
  const events: Event[] = isKnown ? [] : [{ at, type: 'checkpoint.failed', reason }]
  return step(withSaved(session, { trouble: reason, wanted: next }), events)
}

/** What was wanted after the moment that was saved is not in it. */
function stillWanted({ saved }: Session, savedAt: Instant): Saved['wanted'] {
  return saved.wanted !== null && saved.wanted.at > savedAt ? saved.wanted : null
}

/** Told when it begins to work, or works again. */
export function rememberPush(session: Session, { at, number, note }: SignalOf<'checkpoint.pushed'>): Step {
  const remote = remoteOf(session)
  if (remote === null) return nothing(session)
  const { pushed, pushTrouble } = session.saved
  const isNews = pushed === null || pushTrouble !== null
  const events: Event[] = isNews ? [{ at, type: 'checkpoint.pushed', remote, number }] : []
  const noted: Event[] = note === undefined ? [] : [{ at, type: 'session.noted', note }]
  const news = { pushed: { number, at }, pushTrouble: null, ...(note !== undefined && { pushNote: note }) }
  return step(withSaved(session, news), [...events, ...noted])
}

export function rememberFailedPush(session: Session, { at, reason }: SignalOf<'checkpoint.unpushed'>): Step {
  const remote = remoteOf(session)
  if (remote === null || session.saved.pushTrouble === reason) return nothing(session)
  return step(withSaved(session, { pushTrouble: reason }), [{ at, type: 'checkpoint.unpushed', remote, reason }])
}

/** As people may read it. */
function remoteOf({ spec }: Session): string | null {
  return spec.saving.push === null ? null : withoutLogin(spec.saving.push)
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
