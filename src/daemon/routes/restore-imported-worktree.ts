import { refusal } from '../../api/contract/problems.ts'
import type { Checkpoint } from '../../core/checkpoint/checkpoint.ts'
import type { Spec } from '../../core/session/session-state.ts'
import type { Refusal } from '../../lib/errors.ts'
import { rootReason, Trouble } from '../../lib/errors.ts'
import type { CheckpointReader, Checkpoints, CheckpointTarget } from '../../ports/checkpoints.ts'
import { checkpointTargetOf } from '../../ports/checkpoints.ts'
import { refuseOnFailure } from './checkpoints.ts'

/** The effect on the working tree: none, other files on the current branch, or other files on a new branch. */
export type Placement = 'same' | 'here' | 'branch'

/** Returns the change that the working tree needs. Refuses when the change would lose local changes. */
export async function choosePlacement(
  target: CheckpointTarget,
  last: Checkpoint,
  checkpoints: CheckpointReader,
): Promise<Placement> {
  const { change, head } = await refuseOnFailure('cannot-restore', checkpoints.compareWorktree(target, last))
  if (change.files === 0) return 'same'
  const uncommitted = await refuseOnFailure('cannot-restore', checkpoints.compareWorktree(target, null))
  if (uncommitted.change.files > 0) throw refuseDirtyWorktree(target.cwd)
  return last.head !== null && last.head !== head ? 'branch' : 'here'
}

interface ImportSource {
  readonly last: Checkpoint
  /** The new session's record, which its first checkpoint already contains. */
  readonly record: string
}

export async function restoreOrForget(spec: Spec, source: ImportSource, checkpoints: Checkpoints): Promise<void> {
  try {
    await restoreFiles(spec, source, checkpoints)
  } catch (cause) {
    await checkpoints.removeAll(checkpointTargetOf(spec)).catch(() => undefined) // Leftover checkpoints disturb nobody.
    throw cause instanceof Trouble ? refusal('cannot-restore', rootReason(cause)) : cause
  }
}

/** Restores only over a committed state, so that local changes are never lost. */
async function restoreFiles(spec: Spec, { last, record }: ImportSource, checkpoints: Checkpoints): Promise<void> {
  const target = checkpointTargetOf(spec)
  const save = async (): Promise<Checkpoint> => {
    const request = {
      trigger: 'start',
      attempt: 0,
      at: Date.now(),
      record,
      isRecordNews: false,
      isVisible: false,
    } as const
    return (await checkpoints.save(target, request, new AbortController().signal)).checkpoint
  }
  const before = await save()
  const { files } = await checkpoints.diffStat(target, before.commit, last.commit)
  if (files === 0) return
  if (before.change.files > 0) throw refuseDirtyWorktree(spec.cwd)
  if (last.head !== null && last.head !== before.head)
    await checkpoints.switchToNewBranch(target, `oneshot/${spec.name}-${spec.id}`, last.head)
  await checkpoints.restoreInPlace(target, last, await save())
}

function refuseDirtyWorktree(cwd: string): Refusal {
  return refusal(
    'cannot-restore',
    `the working tree in ${cwd} has changes of its own`,
    'commit or stash them, or continue in a fresh clone',
  )
}
