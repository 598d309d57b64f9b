import { parseCheckpointRecord } from '../core/checkpoint/record.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import type { PublicPhase } from '../core/session/session-state.ts'
import { formatIso } from '../lib/time.ts'
import type { FetchResult, SessionFilter } from '../ports/checkpoints.ts'
import type { Home } from '../state/home.ts'
import { checkpointFetcher, checkpointReader } from '../world/git/checkpoint/reader.ts'
import { refuseOnFailure } from './checkpoints.ts'

/** A session with checkpoints in a repository, even if this daemon does not know it. */
export interface SavedSessionView {
  readonly name: string
  readonly sessionId: SessionId
  /** The time of its newest checkpoint. */
  readonly at: string
  /** True when the record holds the facts that a continuation needs, and not only files. */
  readonly isResumable: boolean
  /** True when the session was active at that checkpoint. */
  readonly isAtWork: boolean
  /** The session that continues it on another machine. */
  readonly claim?: { readonly sessionId: SessionId; readonly host: string }
}

/** Returns the saved sessions in the repository around this folder, newest first. */
export async function findSavedSessions(home: Home, cwd: string): Promise<SavedSessionView[]> {
  const checkpoints = checkpointReader(home)
  if (!checkpoints.isRepository(cwd)) return []
  const found = await refuseOnFailure(checkpoints.findSessions(cwd))
  return found.map(({ name, sessionId, last, record: text, claim }) => {
    const record = parseCheckpointRecord(text)
    return {
      name,
      sessionId,
      at: formatIso(last.at),
      // The backup of a restore, and a session that was interrupted at its start, have no record to continue with: only
      // files.
      isResumable: record !== null,
      isAtWork: ACTIVE_STATES.has(record?.state ?? ''),
      ...(claim !== undefined && { claim }),
    }
  })
}

/** The states of a record whose session has not ended. */
const ACTIVE_STATES: ReadonlySet<string> = new Set<PublicPhase>([
  'starting',
  'running',
  'resting',
  'blocked',
  'stopping',
])

/** Returns the remotes of the repository around this folder; null outside a repository. */
export async function remotesAt(home: Home, cwd: string): Promise<string[] | null> {
  const checkpoints = checkpointReader(home)
  return checkpoints.isRepository(cwd) ? await refuseOnFailure(checkpoints.remotes(cwd)) : null
}

/** Fetches the checkpoints of chosen sessions from a remote into the repository around this folder. */
export function fetchSavedSessions(
  home: Home,
  cwd: string,
  source: { remote: string; choose: SessionFilter },
  env: NodeJS.ProcessEnv,
): Promise<FetchResult> {
  const variables = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const signal = AbortSignal.timeout(300_000)
  const remote = { remote: source.remote, env: Object.fromEntries(variables) }
  return refuseOnFailure(checkpointFetcher(home).fetch(cwd, remote, source.choose, signal))
}

/** Undoes a fetch that served only a preview. */
export function undoFetch(home: Home, cwd: string, fetched: FetchResult): Promise<void> {
  return refuseOnFailure(checkpointFetcher(home).undoFetch(cwd, fetched))
}

/** Removes the refs of a session that this daemon does not know, and nothing else. */
export function forgetSavedSession(
  home: Home,
  cwd: string,
  saved: { name: string; sessionId: SessionId },
): Promise<void> {
  return refuseOnFailure(checkpointFetcher(home).removeRefs({ cwd, ...saved }))
}
