import type { Checkpoint } from '../core/checkpoint.ts'
import type { Session } from '../core/session.ts'
import type { Checkpoints } from '../ports/checkpoints.ts'
import { keepingOf } from '../ports/keeping-of.ts'
import type { Safekeeper } from './safekeeper.ts'

/** Where a checkpoint is to be brought back to. */
export type Whither = 'here' | { readonly branch: string; readonly worktree: string | null }

/** What was in the working tree before, if that was touched; and what could not be brought back, one sentence each. */
export interface Restored {
  readonly before: Checkpoint | null
  /** How many files of the working tree are different from before; null when it was not touched. */
  readonly files: number | null
  readonly missing: readonly string[]
}

/** Brings a checkpoint back. Into the working tree only over what was saved the moment before. */
export async function restore(
  session: Session,
  checkpoint: Checkpoint,
  whither: Whither,
  { safekeeper, checkpoints }: { safekeeper: Safekeeper; checkpoints: Checkpoints },
): Promise<Restored> {
  const keeping = keepingOf(session.spec)
  const { id } = session.spec
  if (whither !== 'here') {
    const missing = await safekeeper.alone(id, () => checkpoints.restoreBeside(keeping, checkpoint, whither))
    return { before: null, files: null, missing: [...checkpoint.leftOut, ...missing] }
  }
  const { checkpoint: before } = await safekeeper.now(id, 'restore')
  const missing = await safekeeper.alone(id, () => checkpoints.restoreHere(keeping, checkpoint, before))
  const absent = checkpoint.leftOut.filter(sentence => !missing.some(told => told.startsWith(sentence)))
  const { files } = await checkpoints.change(keeping, before.commit, checkpoint.commit)
  return { before, files, missing: [...missing, ...absent] }
}
