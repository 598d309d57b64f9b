import path from 'node:path'
import type { Worktree } from '../../../ports/worktrees.ts'
import type { RepositoryContext } from '../repository-context.ts'
import type { LockHolder } from './repository-lock.ts'
import { canonicalPath } from './operations/registry.ts'
import { ownershipEntry } from './journal.ts'
import { backupRef, snapshotRef } from './context.ts'

const WORKTREE_LOCKS = ['index.lock', 'HEAD.lock', 'ORIG_HEAD.lock', 'AUTO_MERGE.lock'] as const

/** Returns locks that only we can have left; the caller removes old ones. */
export function ownLocks(
  { repository }: RepositoryContext,
  worktree: Worktree | null,
  { previousHolderDied }: LockHolder,
): string[] {
  const { gitDir, commonDir } = repository
  const isOurs = worktree !== null && ownershipEntry(gitDir).read()?.branch === worktree.branch
  const refs =
    worktree === null
      ? []
      : [`refs/heads/${worktree.branch}`, backupRef(worktree.branch), snapshotRef(canonicalPath(worktree.path))]
  return [
    ...(isOurs ? WORKTREE_LOCKS.map(name => path.join(gitDir, name)) : []),
    ...refs.map(ref => path.join(commonDir, `${ref}.lock`)),
    // git holds these for a moment only; a kill may have hit a git process of ours in that moment.
    ...(previousHolderDied ? ['packed-refs.lock', 'config.lock'].map(name => path.join(commonDir, name)) : []),
  ]
}
