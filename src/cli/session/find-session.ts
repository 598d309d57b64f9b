import path from 'node:path'
import { refusal } from '../../api/contract/problems.ts'
import type { SessionView } from '../../api/contract/responses.ts'
import { didYouMean } from '../../lib/text/did-you-mean.ts'
import type { Refusal } from '../../lib/errors.ts'
import type { Home } from '../../state/home.ts'
import {
  findEndedKeys,
  findEndedNames,
  findLive,
  hasSession,
  type KeyFilter,
  readViews,
  type SessionKey,
} from '../../views/session-search.ts'
import { type CommandContext, currentDirectory } from '../context.ts'

/**
 * Finds the session that a person means, by name, label, task, id or a unique prefix. It reads only the sessions that
 * the word may mean.
 */
export function findSession(home: Home, word: string, cwd: string): SessionView {
  const filters: KeyFilter[] = [{ name: word }, { label: word }, { task: word }, { id: word }]
  // Ids are random: a few letters that a person types for a name begin some id by chance.
  if (word !== '') filters.push({ prefix: { text: word, withIds: word.length >= MIN_ID_PREFIX } })
  for (const filter of filters) {
    const found = findUnique(home, { ...filter, isTopLevel: 'among-matches' }, { word, cwd })
    if (found !== undefined) return found
  }
  throw unknownSession(home, word)
}

const MIN_ID_PREFIX = 4

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

function lastActivity(session: SessionView): string {
  return session.endedAt ?? session.createdAt
}

/**
 * A live session precedes ended ones, a loop precedes its workers, and a session of this directory precedes those of
 * others. Of several with the same name this returns the newest; it refuses different names.
 */
function findUnique(
  home: Home,
  filter: KeyFilter,
  { word, cwd }: { word: string; cwd: string },
): SessionView | undefined {
  const live = findLive(home, filter)
  if (live.length > 0) {
    const inDirectory = live.filter(session => session.cwd === cwd)
    const found = inDirectory.length > 0 ? inDirectory : live
    assertOneName(word, [...new Set(found.map(({ name }) => name))])
    return found[0]
  }
  const newest = findNewestEnded(home, filter)
  if (newest === undefined) return undefined
  const here = newest.cwd === cwd ? newest : findNewestEnded(home, { ...filter, cwds: [cwd] })
  if (filter.name === undefined && filter.id === undefined)
    assertOneName(word, findEndedNames(home, here === undefined ? filter : { ...filter, cwds: [cwd] }))
  return readViews(home, [here ?? newest])[0]
}

function findNewestEnded(home: Home, filter: KeyFilter): SessionKey | undefined {
  return findEndedKeys(home, filter, { limit: 1 })[0]
}

function assertOneName(word: string, names: readonly string[]): void {
  if (names.length <= 1) return
  const shown = names.length > 8 ? [...names.slice(0, 8), `and ${names.length - 8} more`] : names
  throw refusal(
    'session-ambiguous',
    `${JSON.stringify(word)} may mean ${names.length} sessions: ${shown.join(', ')}`,
    'type more of the name',
  )
}

/** So many ended sessions may have the name that a person has misspelled. */
const SUGGESTED_FROM = 200

function unknownSession(home: Home, word: string): Refusal {
  const keys = [...findLive(home), ...findEndedKeys(home, {}, { limit: SUGGESTED_FROM })]
  const suggestion = didYouMean(
    word,
    keys.flatMap(({ label, name, task }) => [...(label === null ? [] : [label]), name, task]),
  )
  const hint = suggestion === undefined ? 'oneshot list --all shows all of them' : `did you mean ${suggestion}?`
  return refusal('no-session', `there is no session ${JSON.stringify(word)}`, hint)
}

/**
 * Finds the session of a command on disk: reading needs no daemon. Without a word, returns this directory's most
 * relevant session that fits the command; when none of the recent ones fits, its most relevant.
 */
export function pickSession(
  { home, host }: Pick<CommandContext, 'home' | 'host'>,
  word: string | undefined,
  matches: (session: SessionView) => boolean = () => true,
): SessionView {
  if (word !== undefined) return findSession(home, word, currentDirectoryOrEmpty({ host }))
  const cwd = currentDirectory({ host })
  let first: SessionView | undefined
  for (const session of sessionsInDirectory(home, cwd)) {
    if (matches(session)) return session
    first ??= session
  }
  if (first === undefined) throw noSessionHere(home, cwd)
  return first
}

/** So many ended sessions of a directory are searched for one that fits a command without a name. */
const RECENT = 50

/** Yields the live sessions of a directory, then those that ended last, without the workers of its loops. */
function* sessionsInDirectory(home: Home, cwd: string): Generator<SessionView> {
  const filter: KeyFilter = { cwds: [cwd], isTopLevel: 'among-matches' }
  yield* findLive(home, filter)
  for (const key of findEndedKeys(home, filter, { limit: RECENT })) yield* readViews(home, [key])
}

function noSessionHere(home: Home, cwd: string): Refusal {
  const sentence = `there is no session in this directory (${cwd})`
  const above = { cwds: foldersAbove(cwd) }
  const parent = findLive(home, above)[0] ?? findNewestEnded(home, above)
  if (parent !== undefined) return refusal('no-session', sentence, `${parent.name} is in ${parent.cwd}: name it`)
  const hint = hasSession(home)
    ? 'name one; oneshot list shows those of all directories'
    : 'start one with oneshot run "..." or oneshot run -- COMMAND'
  return refusal('no-session', sentence, hint)
}

function foldersAbove(folder: string): string[] {
  const above = path.dirname(folder)
  return above === folder ? [] : [above, ...foldersAbove(above)]
}

/** Finds several sessions, each only once; without a word, this directory's. */
export function pickSessions(context: CommandContext, words: readonly string[]): SessionView[] {
  if (words.length === 0) return [pickSession(context, undefined)]
  const found = words.map(word => findSession(context.home, word, currentDirectoryOrEmpty(context)))
  return [...new Map(found.map(session => [session.id, session])).values()]
}

/** A user can name a session from a directory that was removed. */
function currentDirectoryOrEmpty(context: Pick<CommandContext, 'host'>): string {
  try {
    return currentDirectory(context)
  } catch {
    return ''
  }
}
