import { refusal } from '../api/contract/problems.ts'
import type { SessionView } from '../api/contract/session-view.ts'
import { nearest } from '../lib/nearest.ts'
import type { Refusal } from '../lib/refusal.ts'

/** The session a person means: by name, task, id or a unique beginning; without a word, this directory's latest. */
export function findSession(sessions: readonly SessionView[], word: string | undefined, cwd: string): SessionView {
  const likeliest = likeliestFirst(sessions)
  if (word === undefined) return ofDirectory(likeliest, cwd)
  return (
    theOne(likeliest, session => session.name === word, word) ??
    theOne(likeliest, session => session.task === word, word) ??
    theOne(likeliest, session => session.id === word, word) ??
    theOne(likeliest, session => word !== '' && wordsFor(session).some(known => known.startsWith(word)), word) ??
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

function wordsFor(session: SessionView): string[] {
  return [session.name, session.task, session.id]
}

function latest(session: SessionView): string {
  return session.endedAt ?? session.createdAt
}

function ofDirectory(likeliest: readonly SessionView[], cwd: string): SessionView {
  const found = likeliest.find(session => session.cwd === cwd)
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
 * A name that was used again means its likeliest bearer, and one that lives is meant rather than ones that have ended;
 * beyond that, different names are not ours to choose from.
 */
function theOne(
  likeliest: readonly SessionView[],
  matches: (session: SessionView) => boolean,
  word: string,
): SessionView | undefined {
  const all = likeliest.filter(matches)
  const live = all.filter(isLive)
  const found = live.length > 0 ? live : all
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
    sessions.flatMap(session => [session.name, session.task]),
  )
  const hint = meant === undefined ? 'oneshot list shows all of them' : `did you mean ${meant}?`
  return refusal('no-session', `there is no session ${JSON.stringify(word)}`, hint)
}

function refuse(cause: Refusal): never {
  throw cause
}
