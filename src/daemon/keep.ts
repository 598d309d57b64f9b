import path from 'node:path'
import type { RestoreRequest } from '../api/contract/requests.ts'
import type { CheckpointView, RestoredView } from '../api/contract/session-view.ts'
import { refusal } from '../api/contract/problems.ts'
import type { Checkpoint } from '../core/checkpoint.ts'
import { isIdle, type Session } from '../core/session.ts'
import type { Engine } from '../engine/engine.ts'
import { keepingOf } from '../ports/keeping-of.ts'
import { reasonIn, Trouble } from '../lib/trouble.ts'
import { type Checkpoints, Unkept } from '../ports/checkpoints.ts'
import type { Store } from '../ports/store.ts'
import { checkpointView } from '../views/session-view.ts'

interface Host {
  readonly engine: Engine
  readonly store: Store
  readonly checkpoints: Checkpoints
}

export async function saveNow(
  { spec }: Session,
  { engine }: Host,
): Promise<{ checkpoint: CheckpointView; isNew: boolean }> {
  const { checkpoint, isNew } = await orRefuse('cannot-save', engine.keepers.saveNow(spec.id))
  return { checkpoint: checkpointView(checkpoint), isNew }
}

export async function bringBack(session: Session, request: RestoreRequest, host: Host): Promise<RestoredView> {
  const { engine, checkpoints } = host
  const all = await orRefuse('cannot-restore', checkpoints.list(keepingOf(session.spec)))
  const checkpoint = checkpointIn(all, request.checkpoint, session.spec.name)
  if (request.here === true) assertStill(session.spec.cwd, host)
  const branch = request.branch ?? `oneshot/${session.spec.name}-${checkpoint.number}`
  const worktree = request.worktree ?? null
  const whither = request.here === true ? 'here' : { branch, worktree }
  const restored = engine.keepers.restore(session, checkpoint, whither)
  const beside = `oneshot restore ${session.spec.name}@${checkpoint.number} --worktree DIR`
  const hint = whither === 'here' ? `move it away and try again, or: ${beside}` : undefined
  const { before, files, missing } = await orRefuse('cannot-restore', restored, hint)
  const view = { checkpoint: checkpointView(checkpoint), before: before && checkpointView(before), files, missing }
  return whither === 'here' ? { ...view, branch: null, worktree: null } : { ...view, ...whither }
}

export function checkpointIn(all: readonly Checkpoint[], number: number, name: string): Checkpoint {
  const found = all.find(checkpoint => checkpoint.number === number)
  if (found !== undefined) return found
  const why = all.length === 0 ? 'has no checkpoints' : `has no checkpoint ${number}`
  throw refusal('no-checkpoint', `${name} ${why}`, `oneshot checkpoints ${name}`)
}

/** Nobody's files are taken from under their hands, wherever in the working tree they are at work. */
export function assertStill(folder: string, { store, checkpoints }: Pick<Host, 'store' | 'checkpoints'>): void {
  const top = checkpoints.top(folder) ?? folder
  const atWork = store.live().find(other => isWithin(other.spec.cwd, top) && !isIdle(other))
  if (atWork === undefined) return
  const { name, cwd } = atWork.spec
  throw refusal('session-alive', `${name} is running in ${cwd}`, `oneshot hold ${name}, then try again`)
}

function isWithin(folder: string, top: string): boolean {
  const way = path.relative(top, folder)
  return way !== '..' && !way.startsWith(`..${path.sep}`)
}

export async function orRefuse<T>(code: 'cannot-save' | 'cannot-restore', deed: Promise<T>, hint?: string): Promise<T> {
  try {
    return await deed
  } catch (cause) {
    if (cause instanceof Unkept) throw refusal('no-repository', cause.message, cause.remedy)
    if (cause instanceof Trouble) throw refusal(code, reasonIn(cause), hint)
    throw cause
  }
}
