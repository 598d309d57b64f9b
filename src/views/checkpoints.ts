import type { CheckpointView, SessionView } from '../api/contract/session-view.ts'
import { refusal } from '../api/contract/problems.ts'
import { readCheckpointRecord } from '../core/checkpoint-record.ts'
import type { PhaseName } from '../core/session.ts'
import { iso } from '../lib/time.ts'
import { reasonIn, Trouble } from '../lib/trouble.ts'
import { type Choice, type Fetched, Unkept } from '../ports/checkpoints.ts'
import { keepingOf } from '../ports/keeping-of.ts'
import { gitCheckpoints } from '../world/git/git-checkpoints.ts'
import type { Home } from '../world/os/home.ts'
import { checkpointView } from './session-view.ts'

type Whose = Pick<SessionView, 'cwd' | 'id' | 'name'>

/** All checkpoints of a session, oldest first, from its repository alone. */
export async function readCheckpoints(home: Home, session: Whose): Promise<CheckpointView[]> {
  const all = await orRefuse(gitCheckpoints(home).list(keepingOf(session)))
  return all.map(checkpointView)
}

/** What is different between two of them, as git shows it. */
export function readDiff(
  home: Home,
  session: Whose,
  between: { from: string; to: string },
  options: { stat: boolean; colour: boolean },
): Promise<string> {
  return orRefuse(gitCheckpoints(home).diff(keepingOf(session), between.from, between.to, options))
}

export function readChange(
  home: Home,
  session: Whose,
  between: { from: string; to: string },
): Promise<{ files: number; added: number; removed: number }> {
  return orRefuse(gitCheckpoints(home).change(keepingOf(session), between.from, between.to))
}

/** A session of which something is kept in a repository, whoever knows of it. */
export interface KeptView {
  readonly name: string
  readonly sessionId: string
  /** Of its newest checkpoint. */
  readonly at: string
  /** Whether there is more than files: what a session needs to go on. */
  readonly isResumable: boolean
  /** Whether it was at work when that was made, as far as anybody knows. */
  readonly isAtWork: boolean
  /** The session that continues it on another machine. */
  readonly claim?: { readonly sessionId: string; readonly host: string }
}

/** What is kept in the repository around this folder; the newest first. */
export async function findKept(home: Home, cwd: string): Promise<KeptView[]> {
  const checkpoints = gitCheckpoints(home)
  if (!checkpoints.isPlace(cwd)) return []
  const found = await orRefuse(checkpoints.find(cwd))
  return found.map(({ name, sessionId, last, record: text, claim }) => {
    const record = readCheckpointRecord(text)
    return {
      name,
      sessionId,
      at: iso(last.at),
      // What was there before a restore, or was broken off while it was begun, tells nothing to continue with: only files.
      isResumable: record !== null,
      isAtWork: AT_WORK.has(record?.state ?? ''),
      ...(claim !== undefined && { claim }),
    }
  })
}

/** The phases of a session that has not ended. */
const AT_WORK: ReadonlySet<string> = new Set<PhaseName>(['starting', 'running', 'resting', 'blocked', 'stopping'])

/** The remotes of the repository around this folder; null where there is none. */
export async function remotesAt(home: Home, cwd: string): Promise<string[] | null> {
  const checkpoints = gitCheckpoints(home)
  return checkpoints.isPlace(cwd) ? await orRefuse(checkpoints.remotes(cwd)) : null
}

/** Brings what some sessions have kept on a remote into the repository around this folder. */
export function fetchKept(
  home: Home,
  cwd: string,
  from: { remote: string; choose: Choice },
  env: NodeJS.ProcessEnv,
): Promise<Fetched> {
  const defined = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const signal = AbortSignal.timeout(300_000)
  const remote = { remote: from.remote, env: Object.fromEntries(defined) }
  return orRefuse(gitCheckpoints(home).fetch(cwd, remote, from.choose, signal))
}

/** Undoes a fetch that was made only to look. */
export function putBackFetched(home: Home, cwd: string, fetched: Fetched): Promise<void> {
  return orRefuse(gitCheckpoints(home).putBack(cwd, fetched))
}

/** Removes the refs of a session that nobody here knows, and nothing else. */
export function forgetKept(home: Home, cwd: string, kept: { name: string; sessionId: string }): Promise<void> {
  return orRefuse(gitCheckpoints(home).forgetRefs({ cwd, ...kept }))
}

async function orRefuse<T>(deed: Promise<T>): Promise<T> {
  try {
    return await deed
  } catch (cause) {
    if (cause instanceof Unkept) throw refusal('no-repository', cause.message, cause.remedy)
    if (cause instanceof Trouble) throw refusal('no-checkpoint', reasonIn(cause))
    throw cause
  }
}
