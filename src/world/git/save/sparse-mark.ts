import fs from 'node:fs'
import path from 'node:path'
import type { Repository } from '../repository.ts'

/**
 * Changes with the user's index where there is a sparse checkout: what is not on disk is what that says, and by an index from
 * before another choice all files that are no longer wanted would be deleted ones.
 */
export function sparseMark({ gitDir }: Repository): string {
  const isSparse = fs.existsSync(path.join(gitDir, 'info', 'sparse-checkout'))
  return isSparse ? stampOf(path.join(gitDir, 'index')) : ''
}

/** Tells a file from what it was before; empty when there is none. */
export function stampOf(file: string): string {
  const stat = fs.statSync(file, { throwIfNoEntry: false })
  return stat === undefined ? '' : `${stat.ino}:${stat.size}:${stat.mtimeMs}`
}
