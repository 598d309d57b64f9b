import { refusal } from '../api/contract/problems.ts'
import type { SessionView } from '../api/contract/session-view.ts'
import { nearest } from '../lib/nearest.ts'
import type { Refusal } from '../lib/refusal.ts'

/** The session a person means: by name, task, id or a unique beginning; without a word, this directory's latest. */
export function findSession(sessions: readonly SessionView[], word: string | undefined, cwd: string): SessionView {
  const likeliest = likeliestFirst(sessions)
  if (word === undefined) return ofDirectory(likeliest, cwd)
  return (
    theOne(likeliest, session => session.name === word, { word, cwd }) ??
    theOne(likeliest, session => session.label === word, { word, cwd }) ??
    theOne(likeliest, session => session.task === word, { word, cwd }) ??
    theOne(likeliest, session => session.id === word, { word, cwd }) ??
    theOne(likeliest, session => beginsWith(session, word), { word, cwd }) ??
    refuse(unknown(sessions, word))
  )
}

/** Live ones first, then the newest. */
export function likeliestFirst(sessions: readonly SessionView[]): SessionView[] {
  return [...sessions].sort(
    (a, b) => Number(isLive(b)) - Number(isLive(a)) || Date.parse(latest(b)) - Date.parse(latest(a)),
  )
}

export function isLive(session: SessionView): boolean {
  return session.phase !== 'ended'
}

/** Without those who work for another one of these. */
export function withoutWorkers(sessions: readonly SessionView[]): SessionView[] {
  const ids = new Set(sessions.map(({ id }) => id))
  return sessions.filter(({ parent }) => parent === null || !ids.has(parent))
}

/** Ids are random: a few letters that a person types for a name begin some id by chance. */
const SHORTEST_ID = 4

function beginsWith(session: SessionView, word: string): boolean {
  if (word === '') return false
  const known = word.length < SHORTEST_ID ? wordsFor({ ...session, id: '' }) : wordsFor(session)
  return known.some(one => one.startsWith(word))
}

function wordsFor(session: SessionView): string[] {
  const { name, task, id, label } = session
  return label === null ? [name, task, id] : [label, name, task, id]
}

function latest(session: SessionView): string {
  return session.endedAt ?? session.createdAt
}

function ofDirectory(likeliest: readonly SessionView[], cwd: string): SessionView {
  const [found] = withoutWorkers(likeliest.filter(session => session.cwd === cwd))
  if (found !== undefined) return found
  const above = likeliest.find(session => cwd.startsWith(`${session.cwd}/`))
  if (above !== undefined)
    throw refusal(
      'no-session',
      `there is no session in this directory (${cwd})`,
      `${above.name} is in ${above.cwd}: name it`,
    )
  const hint =
    likeliest.length === 0
      ? 'start one with oneshot run "..." or oneshot run -- COMMAND'
      : 'name one; oneshot list shows those of all directories'
  throw refusal('no-session', `there is no session in this directory (${cwd})`, hint)
}

/**
 * A live session comes before ended ones, a loop before the sessions it started, and one of this directory before those of
 * others. Of several with the same name it is the newest; different names are refused.
 */
function theOne(
  likeliest: readonly SessionView[],
  matches: (session: SessionView) => boolean,
  { word, cwd }: { word: string; cwd: string },
): SessionView | undefined {
  const all = withoutWorkers(likeliest.filter(matches))
  const live = all.filter(isLive)
  const candidates = live.length > 0 ? live : all
  const nearby = candidates.filter(session => session.cwd === cwd)
  const found = nearby.length > 0 ? nearby : candidates
  const names = [...new Set(found.map(session => session.name))]
  if (names.length > 1) throw ambiguous(word, names)
  return found[0]
}

function ambiguous(word: string, names: readonly string[]): Refusal {
  const shown = names.length > 8 ? [...names.slice(0, 8), `and ${names.length - 8} more`] : names
  return refusal(
    'session-ambiguous',
    `${JSON.stringify(word)} may mean ${names.length} sessions: ${shown.join(', ')}`,
    'type more of the name',
  )
}

function unknown(sessions: readonly SessionView[], word: string): Refusal {
  const meant = nearest(
    word,
    sessions.flatMap(session => wordsFor(session).filter(known => known !== session.id)),
  )
  const hint = meant === undefined ? 'oneshot list shows all of them' : `did you mean ${meant}?`
  return refusal('no-session', `there is no session ${JSON.stringify(word)}`, hint)
}

function refuse(cause: Refusal): never {
  throw cause
}
