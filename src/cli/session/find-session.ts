import { refusal } from '../../api/contract/problems.ts'
import type { SessionView } from '../../api/contract/responses.ts'
import { didYouMean } from '../../lib/text/did-you-mean.ts'
import type { Refusal } from '../../lib/errors.ts'
import { readSessions } from '../../views/sessions.ts'
import { type CommandContext, currentDirectory } from '../context.ts'

/**
 * Finds the session that a person means, by name, task, id or a unique prefix; without a word, this directory's latest.
 */
export function findSession(sessions: readonly SessionView[], word: string | undefined, cwd: string): SessionView {
  const sorted = sortByRelevance(sessions)
  if (word === undefined) return findInDirectory(sorted, cwd)
  return (
    findUnique(sorted, session => session.name === word, { word, cwd }) ??
    findUnique(sorted, session => session.label === word, { word, cwd }) ??
    findUnique(sorted, session => session.task === word, { word, cwd }) ??
    findUnique(sorted, session => session.id === word, { word, cwd }) ??
    findUnique(sorted, session => hasPrefix(session, word), { word, cwd }) ??
    throwRefusal(unknownSession(sessions, word))
  )
}

/** Sorts live sessions first, then by the latest activity. */
export function sortByRelevance(sessions: readonly SessionView[]): SessionView[] {
  return [...sessions].sort(
    (a, b) => Number(isLive(b)) - Number(isLive(a)) || Date.parse(lastActivity(b)) - Date.parse(lastActivity(a)),
  )
}

export function isLive(session: SessionView): boolean {
  return session.phase !== 'ended'
}

/** Removes the workers of another session in the list. */
export function withoutWorkers(sessions: readonly SessionView[]): SessionView[] {
  const ids = new Set(sessions.map(({ id }) => id))
  return sessions.filter(({ parent }) => parent === null || !ids.has(parent))
}

/** In characters. Ids are random: a few letters that a person types for a name begin some id by chance. */
const MIN_ID_PREFIX = 4

function hasPrefix(session: SessionView, word: string): boolean {
  if (word === '') return false
  const known = word.length < MIN_ID_PREFIX ? searchNames({ ...session, id: '' }) : searchNames(session)
  return known.some(one => one.startsWith(word))
}

function searchNames(session: SessionView): string[] {
  const { name, task, id, label } = session
  return label === null ? [name, task, id] : [label, name, task, id]
}

function lastActivity(session: SessionView): string {
  return session.endedAt ?? session.createdAt
}

function findInDirectory(sorted: readonly SessionView[], cwd: string): SessionView {
  const [found] = withoutWorkers(sorted.filter(session => session.cwd === cwd))
  if (found !== undefined) return found
  const parent = sorted.find(session => cwd.startsWith(`${session.cwd}/`))
  if (parent !== undefined)
    throw refusal(
      'no-session',
      `there is no session in this directory (${cwd})`,
      `${parent.name} is in ${parent.cwd}: name it`,
    )
  const hint =
    sorted.length === 0
      ? 'start one with oneshot run "..." or oneshot run -- COMMAND'
      : 'name one; oneshot list shows those of all directories'
  throw refusal('no-session', `there is no session in this directory (${cwd})`, hint)
}

/**
 * A live session precedes ended ones, a loop precedes its workers, and a session of this directory precedes those of
 * others. Of several with the same name this returns the newest; it refuses different names.
 */
function findUnique(
  sorted: readonly SessionView[],
  matches: (session: SessionView) => boolean,
  { word, cwd }: { word: string; cwd: string },
): SessionView | undefined {
  const all = withoutWorkers(sorted.filter(matches))
  const live = all.filter(isLive)
  const candidates = live.length > 0 ? live : all
  const inDirectory = candidates.filter(session => session.cwd === cwd)
  const found = inDirectory.length > 0 ? inDirectory : candidates
  const names = [...new Set(found.map(session => session.name))]
  if (names.length > 1) throw ambiguousName(word, names)
  return found[0]
}

function ambiguousName(word: string, names: readonly string[]): Refusal {
  const shown = names.length > 8 ? [...names.slice(0, 8), `and ${names.length - 8} more`] : names
  return refusal(
    'session-ambiguous',
    `${JSON.stringify(word)} may mean ${names.length} sessions: ${shown.join(', ')}`,
    'type more of the name',
  )
}

function unknownSession(sessions: readonly SessionView[], word: string): Refusal {
  const suggestion = didYouMean(
    word,
    sessions.flatMap(session => searchNames(session).filter(known => known !== session.id)),
  )
  const hint = suggestion === undefined ? 'oneshot list shows all of them' : `did you mean ${suggestion}?`
  return refusal('no-session', `there is no session ${JSON.stringify(word)}`, hint)
}

function throwRefusal(cause: Refusal): never {
  throw cause
}

/** Finds the session of a command on disk: reading needs no daemon. */
export function pickSession(
  context: CommandContext,
  word: string | undefined,
  matches: (session: SessionView) => boolean = () => true,
): SessionView {
  return chooseSession(context, readSessions(context.home), word, matches)
}

/**
 * Without a word, returns this directory's most relevant session that fits the command; when none fits, its most
 * relevant.
 */
export function chooseSession(
  context: Pick<CommandContext, 'host'>,
  sessions: readonly SessionView[],
  word: string | undefined,
  matches: (session: SessionView) => boolean,
): SessionView {
  if (word !== undefined) return findSession(sessions, word, currentDirectoryOrEmpty(context))
  const cwd = currentDirectory(context)
  const matching = sessions.filter(session => session.cwd === cwd && matches(session))
  return findSession(matching.length > 0 ? matching : sessions, undefined, cwd)
}

/** Finds several sessions, each only once; without a word, this directory's. */
export function pickSessions(context: CommandContext, words: readonly string[]): SessionView[] {
  if (words.length === 0) return [pickSession(context, undefined)]
  const sessions = readSessions(context.home)
  return [...new Set(words.map(word => findSession(sessions, word, currentDirectoryOrEmpty(context))))]
}

/** A user can name a session from a directory that was removed. */
function currentDirectoryOrEmpty(context: Pick<CommandContext, 'host'>): string {
  try {
    return currentDirectory(context)
  } catch {
    return ''
  }
}
