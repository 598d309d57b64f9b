import { parseRestoreSavedSessionRequest, type RestoreSavedSessionRequest } from '../../api/contract/requests.ts'
import type { RestoredView } from '../../api/contract/responses.ts'
import type { Checkpoint } from '../../core/checkpoint/checkpoint.ts'
import type { Checkpoints, CheckpointTarget } from '../../ports/checkpoints.ts'
import { toCheckpointView } from '../../views/session-view.ts'
import { newSessionId } from '../session-spec.ts'
import { assertNothingRuns, findCheckpoint, parseSavedSessionId, refuseOnFailure } from './checkpoints.ts'
import { type RouteCall, type RouteContext, type Routes, route } from './route.ts'

export const SAVED_SESSION_ROUTES: Routes = {
  'POST /v1/restore': route({
    parse: parseRestoreSavedSessionRequest,
    handle: restoreSavedSession,
    full: 'any',
    confined: 'never',
  }),
}

/** Restores a checkpoint of a session that only the repository knows: in a fresh clone, or after `oneshot clean`. */
async function restoreSavedSession(
  context: RouteContext,
  { body: request }: RouteCall<RestoreSavedSessionRequest>,
): Promise<RestoredView> {
  const { name, cwd, umask } = request
  const { checkpoints } = context
  const target = { cwd, sessionId: parseSavedSessionId(request.sessionId), name, umask }
  const checkpoint = findCheckpoint(
    await refuseOnFailure('cannot-restore', checkpoints.list(target)),
    request.checkpoint,
    name,
  )
  const view = { checkpoint: toCheckpointView(checkpoint), branch: null, worktree: null, before: null, files: null }
  if (request.here === true) {
    assertNothingRuns(cwd, context)
    const hint = `move it away and try again, or: oneshot restore ${name}@${checkpoint.number} --worktree DIR`
    const { before, files, missing } = await refuseOnFailure(
      'cannot-restore',
      restoreInPlace(target, checkpoint, checkpoints),
      hint,
    )
    return { ...view, before: before && toCheckpointView(before), files, missing: [...checkpoint.leftOut, ...missing] }
  }
  const branch = request.branch ?? `oneshot/${name}-${checkpoint.number}`
  const destination = { branch, worktree: request.worktree ?? null }
  const missing = await refuseOnFailure('cannot-restore', checkpoints.restoreToBranch(target, checkpoint, destination))
  return { ...view, ...destination, missing: [...checkpoint.leftOut, ...missing] }
}

/**
 * First saves the local changes as a checkpoint of a separate session, because the session's own checkpoints belong to
 * it alone. Removes that checkpoint if there were no local changes, or if the restore fails.
 */
async function restoreInPlace(
  target: CheckpointTarget,
  checkpoint: Checkpoint,
  checkpoints: Checkpoints,
): Promise<{ before: Checkpoint | null; files: number; missing: readonly string[] }> {
  const backup = { ...target, sessionId: newSessionId(), name: `${target.name}-before` }
  const request = {
    trigger: 'restore',
    attempt: 0,
    at: Date.now(),
    record: '{}',
    isRecordNews: false,
    isVisible: false,
  } as const
  const { checkpoint: before } = await checkpoints.save(backup, request, new AbortController().signal)
  let isBackupNeeded = before.change.files > 0
  try {
    // The commit identifies the backup: its number counts in another chain.
    const missing = await checkpoints.restoreInPlace(target, checkpoint, { ...before, number: 0 })
    const { files } = await checkpoints.diffStat(target, before.commit, checkpoint.commit)
    return { before: isBackupNeeded ? before : null, files, missing }
  } catch (cause) {
    isBackupNeeded = false
    throw cause
  } finally {
    if (!isBackupNeeded) await checkpoints.removeAll(backup)
  }
}
