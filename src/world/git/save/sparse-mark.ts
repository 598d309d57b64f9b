import fs from 'node:fs'
import path from 'node:path'
import type { Repository } from '../repository.ts'

/**
 * Changes with the user's choice of a sparse checkout. An index from before it would take all files that are no longer wanted
 * for deleted ones.
 */
export function sparseMark({ gitDir, commonDir }: Repository): string {
  const patterns = stampOf(path.join(gitDir, 'info', 'sparse-checkout'))
  if (patterns === '') return ''
  return [patterns, stampOf(path.join(gitDir, 'config.worktree')), stampOf(path.join(commonDir, 'config'))].join(' ')
}

/** Tells a file from what it was before; empty when there is none. */
export function stampOf(file: string): string {
  const stat = fs.statSync(file, { throwIfNoEntry: false })
  return stat === undefined ? '' : `${stat.ino}:${stat.size}:${stat.mtimeMs}`
}
