import type { Loop } from '../core/loop/loop-state.ts'
import { relocateCheckouts } from '../core/loop/relocate.ts'
import type { LoopContext } from './context.ts'

/**
 * Returns the loop with its folders in the project of this context: the user may have moved the project and resumed the
 * session with `--cwd`. Corrects git's links to the worktrees then.
 */
export async function relocateLoop({ session, worktrees, paths }: LoopContext, loop: Loop): Promise<Loop> {
  const moved = relocateCheckouts(loop, { cwd: session.cwd, worktrees: paths.allWorktrees })
  if (moved === loop || !worktrees.hasFolder(session.cwd)) return loop
  const places = moved.tasks.flatMap(({ checkout, resolution }) => [checkout, resolution])
  const folders = places.flatMap(place => (place === null || place.branch === null ? [] : [paths.topOf(place.cwd)]))
  if (moved.branch !== null) await worktrees.relink(session.cwd, [paths.integration.path, ...folders])
  return moved
}
