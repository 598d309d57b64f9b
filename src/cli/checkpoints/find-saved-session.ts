import { refusal } from '../../api/contract/problems.ts'
import type { SessionView } from '../../api/contract/responses.ts'
import { formatCommandLine } from '../../lib/text/shell-words.ts'
import { stripCredentials } from '../../lib/mask/strip-url-credentials.ts'
import {
  type SavedSessionView,
  fetchSavedSessions,
  findSavedSessions,
  forgetSavedSession,
} from '../../views/saved-sessions.ts'
import { findEnded, findLive, hasSession, type KeyFilter } from '../../views/session-search.ts'
import type { Home } from '../../state/home.ts'
import { isResumable } from '../../views/describe-session.ts'
import { type CommandContext, currentDirectory } from '../context.ts'
import { noticeWhenSlow } from '../terminal/command-streams.ts'

/** A session with checkpoints in this repository, of this home or of another. */
export interface SavedSession extends SavedSessionView {
  /** True if a remote has different checkpoints of it, which findSaved did not fetch. */
  readonly isDiverged?: true
}

type FetchResult = Awaited<ReturnType<typeof fetchSavedSessions>>

/**
 * Returns all sessions that a word may mean, the newest first. With a remote, it fetches the remote's sessions first.
 * It never fetches sessions of this home: their checkpoints are here.
 */
export async function findSaved(
  word: string | undefined,
  remote: string | undefined,
  context: CommandContext,
  onFetched: (fetched: FetchResult) => void = () => undefined,
): Promise<readonly SavedSession[]> {
  const { home, env } = context
  const cwd = currentDirectory(context)
  if (remote === undefined) return matchByName(await findSavedSessions(home, cwd), word)
  const filter = <K extends NamedSession>(all: readonly K[]): readonly K[] =>
    matchByName(all, word).filter(({ sessionId }) => !hasSession(home, { id: sessionId }))
  const fetching = fetchSavedSessions(home, cwd, { remote, choose: filter }, env)
  const fetched = await noticeWhenSlow(`reading ${stripCredentials(remote)} …`, context.screen, fetching)
  onFetched(fetched)
  const diverged = new Set(fetched.diverged.map(({ sessionId }) => sessionId))
  const found = matchByName(await findSavedSessions(home, cwd), word)
  const [unreadable] = fetched.unreadable
  if (found.length === 0 && unreadable !== undefined) refuseUnreadable(unreadable, remote)
  return found.map(session => (diverged.has(session.sessionId) ? { ...session, isDiverged: true } : session))
}

/** There are checkpoints, but a newer version wrote them, or somebody changed them. */
function refuseUnreadable({ name, sessionId }: NamedSession, remote: string): never {
  const ref = `refs/oneshot/${name}/${sessionId}`
  throw refusal(
    'cannot-restore',
    `the newest checkpoint of ${name} on ${stripCredentials(remote)} cannot be read: its record is damaged or of a newer version`,
    `to look at it: git fetch ${stripCredentials(remote)} ${ref} && git log FETCH_HEAD`,
  )
}

type NamedSession = Pick<SavedSession, 'name' | 'sessionId'>

/** A whole name or task precedes a prefix of one. */
export function matchByName<K extends NamedSession>(all: readonly K[], word: string | undefined): readonly K[] {
  if (word === undefined) return all
  const matchers: ((session: NamedSession) => boolean)[] = [
    ({ name, sessionId }) => name === word || sessionId === word,
    ({ name }) => taskFromName(name) === word,
    ({ name }) => word !== '' && (name.startsWith(word) || taskFromName(name).startsWith(word)),
  ]
  return matchers.map(matcher => all.filter(matcher)).find(found => found.length > 0) ?? []
}

/** Refuses to fetch a session of this home, because its checkpoints are here. */
export function refuseLocalSession(word: string | undefined, home: Home, action: 'resume' | 'restore'): void {
  const found = word === undefined || word === '' ? undefined : findLocal(home, word)
  if (found === undefined) return
  const { name, cwd } = found
  const command = action === 'resume' && !isResumable(found) ? 'status' : action
  throw refusal('cannot-restore', `${name} is a session of this machine, in ${cwd}`, `oneshot ${command} ${name}`)
}

/** Returns the session of this home that the word means first. */
function findLocal(home: Home, word: string): SessionView | undefined {
  const filters: KeyFilter[] = [
    { name: word },
    { id: word },
    { task: word },
    { prefix: { text: word, withIds: false } },
  ]
  for (const filter of filters) {
    const [found] = [...findLive(home, filter), ...findEnded(home, filter, { limit: 1 })]
    if (found !== undefined) return found
  }
  return undefined
}

/** Returns the newest match if all matches have the same name, and refuses otherwise. */
export function singleMatch(
  found: readonly SavedSession[],
  word: string | undefined,
  remoteUrl: string | undefined,
): SavedSession {
  const remote = remoteUrl === undefined ? undefined : stripCredentials(remoteUrl)
  const names = [...new Set(found.map(({ name }) => name))]
  const [first] = found
  const where = remote === undefined ? 'in this repository' : `on ${remote}`
  if (first === undefined)
    throw refusal(
      'no-session',
      `there are no checkpoints of ${word ?? 'any session'} ${where}`,
      remote === undefined ? 'oneshot list' : `what is there: git ls-remote ${remote} 'refs/oneshot/*'`,
    )
  if (names.length > 1)
    throw refusal(
      'session-ambiguous',
      `there are checkpoints of ${names.length} sessions ${where}: ${names.slice(0, 8).join(', ')}`,
      'name one of them',
    )
  if (first.isDiverged === true)
    throw refusal(
      'cannot-restore',
      `refs/oneshot/${first.name}/${first.sessionId} of this repository is not what ${remote} has`,
      `to delete the local copy: ${formatCommandLine(['oneshot', 'clean', '--checkpoints', first.sessionId])}, then try again`,
    )
  return first
}

/** Returns a notice if several machines have worked under one name. */
export function otherMatchesNotice({ name, at }: SavedSession, found: readonly SavedSession[]): string[] {
  const others = found.length - 1
  if (others < 1) return []
  const ids = found.slice(1, 4).map(({ sessionId }) => sessionId)
  return [
    `there are ${others + 1} sessions called ${name}; this is the newest, of ${at}; name the others by id: ${ids.join(', ')}`,
  ]
}

function taskFromName(name: string): string {
  return name.slice(name.indexOf('-') + 1)
}

/** Returns the sessions in this repository that this home does not know: cleaned ones, and those of other machines. */
export async function findOrphans(context: CommandContext): Promise<SavedSessionView[]> {
  const { home } = context
  const saved = await findSavedSessions(home, currentDirectory(context))
  return saved.filter(({ sessionId }) => !hasSession(home, { id: sessionId }))
}

/** Returns the orphans with these names or ids; a name of a session of this home means that session. */
export async function findOrphansByName(
  words: readonly string[],
  context: CommandContext,
): Promise<SavedSessionView[]> {
  const { home } = context
  const isLocal = (name: string): boolean => hasSession(home, { name }) || hasSession(home, { task: name })
  const isNamed = ({ name, sessionId }: SavedSessionView): boolean =>
    words.includes(sessionId) || (words.includes(name) && !isLocal(name))
  return (await findOrphans(context)).filter(isNamed)
}

export async function removeOrphans(orphans: readonly SavedSessionView[], context: CommandContext): Promise<void> {
  for (const { name, sessionId } of orphans)
    await forgetSavedSession(context.home, currentDirectory(context), { name, sessionId })
}
