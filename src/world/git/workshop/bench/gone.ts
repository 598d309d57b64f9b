import { removeTree } from '../../../os/remove-tree.ts'

/** Where a worktree lies that goes. Moved there in one step, nothing in it is needed any more. */
export function goneOf(folder: string): string {
  return `${folder}.gone`
}

/** Ends what was begun. */
export function sweepGone(folder: string): void {
  removeTree(goneOf(folder))
}
