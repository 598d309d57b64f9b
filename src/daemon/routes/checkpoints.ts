import path from 'node:path'
import { shownName } from '../../api/contract/shown-name.ts'
import { parseRestoreRequest, type RestoreRequest } from '../../api/contract/requests.ts'
import type { CheckpointView, RestoredView } from '../../api/contract/responses.ts'
import { refusal } from '../../api/contract/problems.ts'
import type { Checkpoint } from '../../core/checkpoint/checkpoint.ts'
import { isSessionId, type SessionId } from '../../core/session/session-id-and-name.ts'
import { isIdle } from '../../core/session/session-state.ts'
import { rootReason, Trouble } from '../../lib/errors.ts'
import { checkpointTargetOf, NotSaved } from '../../ports/checkpoints.ts'
import { toCheckpointView } from '../../views/session-view.ts'
import { loadSession, type RouteContext, type Routes, sessionRoute, type SessionRouteCall } from './route.ts'

export const CHECKPOINT_ROUTES: Routes = {
  'POST /v1/sessions/:id/checkpoint': sessionRoute({ handle: saveCheckpoint, full: 'own', confined: 'own' }),
  'POST /v1/sessions/:id/restore': sessionRoute({
    parse: parseRestoreRequest,
    handle: restoreSession,
    full: 'own',
    confined: 'never',
  }),
}

async function saveCheckpoint(
  context: RouteContext,
  { id }: SessionRouteCall<undefined>,
): Promise<{ checkpoint: CheckpointView; isNew: boolean }> {
  const { spec } = loadSession(context, id)
  const { checkpoint, isNew } = await refuseOnFailure('cannot-save', context.engine.services.saveNow(spec.id))
  return { checkpoint: toCheckpointView(checkpoint), isNew }
}

async function restoreSession(
  context: RouteContext,
  { body: request, id }: SessionRouteCall<RestoreRequest>,
): Promise<RestoredView> {
  const session = loadSession(context, id)
  const { engine, checkpoints } = context
  const all = await refuseOnFailure('cannot-restore', checkpoints.list(checkpointTargetOf(session.spec)))
  const checkpoint = findCheckpoint(all, request.checkpoint, shownName(session.spec))
  if (request.here === true) assertNothingRuns(session.spec.cwd, context)
  const branch = request.branch ?? `oneshot/${session.spec.name}-${checkpoint.number}`
  const worktree = request.worktree ?? null
  const destination = request.here === true ? 'here' : { branch, worktree }
  const restoring = engine.services.restore(session, checkpoint, destination)
  const worktreeCommand = `oneshot restore ${shownName(session.spec)}@${checkpoint.number} --worktree DIR`
  const hint = destination === 'here' ? `move it away and try again, or: ${worktreeCommand}` : undefined
  const { before, files, missing } = await refuseOnFailure('cannot-restore', restoring, hint)
  const view = { checkpoint: toCheckpointView(checkpoint), before: before && toCheckpointView(before), files, missing }
  return destination === 'here' ? { ...view, branch: null, worktree: null } : { ...view, ...destination }
}

export function findCheckpoint(all: readonly Checkpoint[], number: number, name: string): Checkpoint {
  const found = all.find(checkpoint => checkpoint.number === number)
  if (found !== undefined) return found
  const why = all.length === 0 ? 'has no checkpoints' : `has no checkpoint ${number}`
  throw refusal('no-checkpoint', `${name} ${why}`, `oneshot checkpoints ${name}`)
}

/** Refuses while a session is working anywhere in the working tree, because a restore would change its files. */
export function assertNothingRuns(
  folder: string,
  { store, checkpoints }: Pick<RouteContext, 'store' | 'checkpoints'>,
): void {
  const top = checkpoints.worktreeRoot(folder) ?? folder
  const running = store.live().find(other => isWithin(other.spec.cwd, top) && !isIdle(other))
  if (running === undefined) return
  const { cwd } = running.spec
  const name = shownName(running.spec)
  throw refusal('session-alive', `${name} is running in ${cwd}`, `oneshot hold ${name}, then try again`)
}

function isWithin(folder: string, top: string): boolean {
  const relative = path.relative(top, folder)
  return relative !== '..' && !relative.startsWith(`..${path.sep}`)
}

/** Returns the id of a session that only a repository knows. Its checkpoints have no other ids. */
export function parseSavedSessionId(text: string): SessionId {
  if (isSessionId(text)) return text
  throw refusal('no-repository', `${JSON.stringify(text)} is no id of a session`)
}

export async function refuseOnFailure<T>(
  code: 'cannot-save' | 'cannot-restore',
  action: Promise<T>,
  hint?: string,
): Promise<T> {
  try {
    return await action
  } catch (cause) {
    if (cause instanceof NotSaved) throw refusal('no-repository', cause.message, cause.remedy)
    if (cause instanceof Trouble) throw refusal(code, rootReason(cause), hint)
    throw cause
  }
}
