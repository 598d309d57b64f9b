import { refusal } from '../../api/contract/problems.ts'
import type { SessionView } from '../../api/contract/responses.ts'
import { formatCommandLine } from '../../lib/text/shell-words.ts'
import { stripCredentials } from '../../lib/mask/mask.ts'
import {
  type SavedSessionView,
  fetchSavedSessions,
  findSavedSessions,
  forgetSavedSession,
} from '../../views/checkpoints.ts'
import { readSessions } from '../../views/sessions.ts'
import { isResumable } from '../../views/session-state.ts'
import { type CommandContext, currentDirectory } from '../context.ts'

/** A session of which something is kept in this repository, whoever knows of it. */
export interface SavedSession extends SavedSessionView {
  /** Whether a remote has something else of it, which was not fetched. */
  readonly isDiverged?: true
}

type FetchResult = Awaited<ReturnType<typeof fetchSavedSessions>>

/**
 * All that a word may mean, the newest first; with a remote, after what is there was fetched. Sessions of this home are never
 * fetched: theirs are here.
 */
export async function findSaved(
  word: string | undefined,
  remote: string | undefined,
  { home, env }: CommandContext,
  onFetched: (fetched: FetchResult) => void = () => undefined,
): Promise<readonly SavedSession[]> {
  const cwd = currentDirectory()
  if (remote === undefined) return matchByName(await findSavedSessions(home, cwd), word)
  const localIds = new Set(readSessions(home).map(({ id }) => id))
  const filter = <K extends NamedSession>(all: readonly K[]): readonly K[] =>
    matchByName(all, word).filter(({ sessionId }) => !localIds.has(sessionId))
  const fetched = await fetchSavedSessions(home, cwd, { remote, choose: filter }, env)
  onFetched(fetched)
  const diverged = new Set(fetched.diverged.map(({ sessionId }) => sessionId))
  const found = matchByName(await findSavedSessions(home, cwd), word)
  return found.map(session => (diverged.has(session.sessionId) ? { ...session, isDiverged: true } : session))
}

type NamedSession = Pick<SavedSession, 'name' | 'sessionId'>

/** A whole name or task counts more than the beginning of one. */
export function matchByName<K extends NamedSession>(all: readonly K[], word: string | undefined): readonly K[] {
  if (word === undefined) return all
  const matchers: ((session: NamedSession) => boolean)[] = [
    ({ name, sessionId }) => name === word || sessionId === word,
    ({ name }) => taskFromName(name) === word,
    ({ name }) => word !== '' && (name.startsWith(word) || taskFromName(name).startsWith(word)),
  ]
  return matchers.map(matcher => all.filter(matcher)).find(found => found.length > 0) ?? []
}

/** It is not fetched: it is here. */
export function refuseLocalSession(
  word: string | undefined,
  localSessions: readonly SessionView[],
  action: 'resume' | 'restore',
): void {
  const [found] =
    word === undefined
      ? []
      : matchByName(
          localSessions.map(view => ({ ...view, sessionId: view.id })),
          word,
        )
  if (found === undefined) return
  const { name, cwd } = found
  const command = action === 'resume' && !isResumable(found) ? 'status' : action
  throw refusal('cannot-restore', `${name} is a session of this machine, in ${cwd}`, `oneshot ${command} ${name}`)
}

/** The one of a single name that is newest. */
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

/** Told where several machines have worked under one name. */
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

/** What this repository keeps of sessions that this home does not know: cleaned ones, and those of other machines. */
export async function findOrphans({ home }: CommandContext): Promise<SavedSessionView[]> {
  const localIds = new Set(readSessions(home).map(({ id }) => id))
  return (await findSavedSessions(home, currentDirectory())).filter(({ sessionId }) => !localIds.has(sessionId))
}

/** Those that are called so, by name or id; a name that a session of this home has means that one. */
export async function findOrphansByName(
  words: readonly string[],
  context: CommandContext,
): Promise<SavedSessionView[]> {
  const localNames = new Set(readSessions(context.home).flatMap(({ name, task }) => [name, task]))
  const isNamed = ({ name, sessionId }: SavedSessionView): boolean =>
    words.includes(sessionId) || (words.includes(name) && !localNames.has(name))
  return (await findOrphans(context)).filter(isNamed)
}

export async function removeOrphans(orphans: readonly SavedSessionView[], { home }: CommandContext): Promise<void> {
  for (const { name, sessionId } of orphans) await forgetSavedSession(home, currentDirectory(), { name, sessionId })
}
