import type { CheckpointView, SessionView } from '../api/contract/session-view.ts'
import { refusal } from '../api/contract/problems.ts'
import { iso } from '../lib/time.ts'
import { reasonIn, Trouble } from '../lib/trouble.ts'
import { Unkept } from '../ports/checkpoints.ts'
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
  session: SessionView,
  between: { from: string; to: string },
  options: { stat: boolean; colour: boolean },
): Promise<string> {
  return orRefuse(gitCheckpoints(home).diff(keepingOf(session), between.from, between.to, options))
}

export function readChange(
  home: Home,
  session: SessionView,
  between: { from: string; to: string },
): Promise<{ files: number; added: number; removed: number }> {
  return orRefuse(gitCheckpoints(home).change(keepingOf(session), between.from, between.to))
}

/** What is kept in the repository around this folder of sessions that nobody here knows of; the newest first. */
export async function findKept(
  home: Home,
  cwd: string,
  name: string | null,
): Promise<{ name: string; sessionId: string; at: string; isResumable: boolean }[]> {
  const checkpoints = gitCheckpoints(home)
  if (!checkpoints.isPlace(cwd)) return []
  const found = await orRefuse(checkpoints.find(cwd, name ?? undefined))
  return found.map(({ name: whole, sessionId, last, record }) => ({
    name: whole,
    sessionId,
    at: iso(last.at),
    isResumable: tellsOfSession(record),
  }))
}

/** What was there before a restore, or was broken off while it was begun, tells nothing to go on with: only files. */
function tellsOfSession(record: string): boolean {
  try {
    return typeof (JSON.parse(record) as { session?: unknown }).session === 'object'
  } catch {
    return false
  }
}

/** The remotes of the repository around this folder; null where there is none. */
export async function remotesAt(home: Home, cwd: string): Promise<string[] | null> {
  const checkpoints = gitCheckpoints(home)
  return checkpoints.isPlace(cwd) ? await orRefuse(checkpoints.remotes(cwd)) : null
}

/** Brings what is kept on a remote into the repository around this folder. */
export function fetchKept(
  home: Home,
  cwd: string,
  from: { remote: string; name: string | null },
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const defined = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const signal = AbortSignal.timeout(300_000)
  return orRefuse(gitCheckpoints(home).fetch(cwd, from.remote, from.name, Object.fromEntries(defined), signal))
}

/** Forgets what was fetched only to be looked at. */
export async function forgetKept(home: Home, cwd: string, kept: { name: string; sessionId: string }): Promise<void> {
  await orRefuse(gitCheckpoints(home).forget({ cwd, ...kept }))
}

async function orRefuse<T>(deed: Promise<T>): Promise<T> {
  try {
    return await deed
  } catch (cause) {
    if (cause instanceof Unkept) throw refusal('no-repository', cause.message, 'git init makes a folder a repository')
    if (cause instanceof Trouble) throw refusal('no-checkpoint', reasonIn(cause))
    throw cause
  }
}
