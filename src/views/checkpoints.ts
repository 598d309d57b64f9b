import type { CheckpointView, SessionView } from '../api/contract/responses.ts'
import { refusal } from '../api/contract/problems.ts'
import { rootReason, Trouble } from '../lib/errors.ts'
import { type CheckpointTarget, checkpointTargetOf, NotSaved } from '../ports/checkpoints.ts'
import { readStoredSession } from '../world/store/reader.ts'
import { checkpointReader } from '../world/git/checkpoint/reader.ts'
import type { Home } from '../state/home.ts'
import { toCheckpointView } from './session-view.ts'

type SessionTarget = Pick<SessionView, 'cwd' | 'id' | 'name'>

/** Reads all checkpoints of a session, oldest first, from its repository alone. */
export async function readCheckpoints(home: Home, session: SessionTarget): Promise<CheckpointView[]> {
  const all = await refuseOnFailure(checkpointReader(home).list(readTarget(session)))
  return all.map(toCheckpointView)
}

/** Returns git's diff between two checkpoints. */
export function readDiff(
  home: Home,
  session: SessionTarget,
  between: { from: string; to: string },
  options: { stat: boolean },
): Promise<string> {
  return refuseOnFailure(checkpointReader(home).diff(diffTarget(home, session), between.from, between.to, options))
}

export function readChange(
  home: Home,
  session: SessionTarget,
  between: { from: string; to: string },
): Promise<{ files: number; added: number; removed: number }> {
  return refuseOnFailure(checkpointReader(home).diffStat(diffTarget(home, session), between.from, between.to))
}

/** git runs in nested repositories only if the user asked for that when the session started. */
function diffTarget(home: Home, session: SessionTarget): CheckpointTarget {
  return readTarget(session, readStoredSession(home, session.id)?.spec.supervision.saving.nested)
}

/** A reader neither pushes nor saves. */
function readTarget(session: SessionTarget, nested?: boolean): CheckpointTarget {
  const saving = { push: null, ...(nested !== undefined && { nested }) }
  return checkpointTargetOf({ ...session, supervision: { saving } })
}

/** Turns an expected failure of git into a refusal. */
export async function refuseOnFailure<T>(action: Promise<T>): Promise<T> {
  try {
    return await action
  } catch (cause) {
    if (cause instanceof NotSaved) throw refusal('no-repository', cause.message, cause.remedy)
    if (cause instanceof Trouble) throw refusal('no-checkpoint', rootReason(cause))
    throw cause
  }
}
