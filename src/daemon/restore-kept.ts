import type { RestoreKeptRequest } from '../api/contract/requests.ts'
import type { RestoredView } from '../api/contract/session-view.ts'
import type { Checkpoint } from '../core/checkpoint.ts'
import type { Checkpoints, Keeping } from '../ports/checkpoints.ts'
import type { Store } from '../ports/store.ts'
import { checkpointView } from '../views/session-view.ts'
import { newId } from './accept.ts'
import { assertStill, checkpointIn, orRefuse } from './keep.ts'

interface Host {
  readonly store: Store
  readonly checkpoints: Checkpoints
}

/** Brings a checkpoint back of which nothing but the repository knows: in a fresh clone, or after a cleaning up. */
export async function restoreKept(request: RestoreKeptRequest, host: Host): Promise<RestoredView> {
  const { sessionId, name, cwd, umask } = request
  const { checkpoints } = host
  const keeping = { cwd, sessionId, name, umask }
  const checkpoint = checkpointIn(await orRefuse('cannot-restore', checkpoints.list(keeping)), request.checkpoint, name)
  const view = { checkpoint: checkpointView(checkpoint), branch: null, worktree: null, before: null, files: null }
  if (request.here === true) {
    assertStill(cwd, host)
    const hint = `move it away and try again, or: oneshot restore ${name}@${checkpoint.number} --worktree DIR`
    const { before, files, missing } = await orRefuse('cannot-restore', putHere(keeping, checkpoint, checkpoints), hint)
    return { ...view, before: before && checkpointView(before), files, missing: [...checkpoint.leftOut, ...missing] }
  }
  const branch = request.branch ?? `oneshot/${name}-${checkpoint.number}`
  const whither = { branch, worktree: request.worktree ?? null }
  const missing = await orRefuse('cannot-restore', checkpoints.restoreBeside(keeping, checkpoint, whither))
  return { ...view, ...whither, missing: [...checkpoint.leftOut, ...missing] }
}

/** What is there is kept under a name of its own, unless all of it is committed: the session's own belong to it alone. */
async function putHere(
  keeping: Keeping,
  checkpoint: Checkpoint,
  checkpoints: Checkpoints,
): Promise<{ before: Checkpoint | null; files: number; missing: readonly string[] }> {
  const present = { ...keeping, sessionId: newId(), name: `${keeping.name}-before` }
  const occasion = {
    trigger: 'restore',
    attempt: 0,
    at: Date.now(),
    record: '{}',
    isRecordNews: false,
    isVisible: false,
  } as const
  const { checkpoint: before } = await checkpoints.save(present, occasion, new AbortController().signal)
  let isNeeded = before.change.files > 0
  try {
    // By its commit: its number is one of another chain.
    const missing = await checkpoints.restoreHere(keeping, checkpoint, { ...before, number: 0 })
    const { files } = await checkpoints.change(keeping, before.commit, checkpoint.commit)
    return { before: isNeeded ? before : null, files, missing }
  } catch (cause) {
    isNeeded = false
    throw cause
  } finally {
    if (!isNeeded) await checkpoints.forget(present)
  }
}
