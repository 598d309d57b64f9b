import type { CheckpointView, SessionView } from '../api/contract/session-view.ts'
import { refusal } from '../api/contract/problems.ts'
import { reasonIn, Trouble } from '../lib/trouble.ts'
import { type Keeping, Unkept } from '../ports/checkpoints.ts'
import { gitCheckpoints } from '../world/git/git-checkpoints.ts'
import type { Home } from '../world/os/home.ts'
import { checkpointView } from './session-view.ts'

/** All checkpoints of a session, oldest first, from its repository alone. */
export async function readCheckpoints(home: Home, session: SessionView): Promise<CheckpointView[]> {
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

function keepingOf({ cwd, id, name }: SessionView): Keeping {
  return { cwd, sessionId: id, name }
}

async function orRefuse<T>(deed: Promise<T>): Promise<T> {
  try {
    return await deed
  } catch (cause) {
    if (cause instanceof Trouble || cause instanceof Unkept) throw refusal('no-checkpoint', reasonIn(cause))
    throw cause
  }
}
