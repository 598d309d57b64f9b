import { isInProgress, type Loop, type LoopTask, type TaskCheckout } from './loop-state.ts'

/** The folders of a loop's project. */
export interface ProjectFolders {
  /** The folder of the loop's session. */
  readonly cwd: string
  /** The folder with the worktrees of all loops. */
  readonly worktrees: string
}

/** The end of the path of each folder with worktrees. */
export const WORKTREES_FOLDER = '.agent/worktrees'

/**
 * Returns the loop with the folders of its tasks in a project that the user has moved; the same loop if nothing moved.
 */
export function relocateCheckouts(loop: Loop, folders: ProjectFolders): Loop {
  const tasks = loop.tasks.map(task => relocateTask(task, folders))
  return tasks.every((task, n) => task === loop.tasks[n]) ? loop : { ...loop, tasks }
}

function relocateTask(task: LoopTask, folders: ProjectFolders): LoopTask {
  const { previousCompletion } = task
  const moved = relocateWork(task, folders)
  const previous = previousCompletion === undefined ? undefined : relocateWork(previousCompletion, folders)
  if (moved === task && previous === previousCompletion) return task
  const { checkout } = moved
  return {
    ...moved,
    checkout: checkout !== null && isInProgress(task) ? { ...checkout, isMoved: true } : checkout,
    ...(previous !== undefined && { previousCompletion: previous }),
  }
}

function relocateWork<T extends Pick<LoopTask, 'checkout' | 'resolution'>>(work: T, folders: ProjectFolders): T {
  const checkout = relocate(work.checkout, folders)
  const resolution = relocate(work.resolution, folders)
  return checkout === work.checkout && resolution === work.resolution ? work : { ...work, checkout, resolution }
}

function relocate(place: TaskCheckout | null, folders: ProjectFolders): TaskCheckout | null {
  if (place === null) return null
  const cwd = place.branch === null ? folders.cwd : relocateWorktree(place.cwd, folders.worktrees)
  return cwd === place.cwd ? place : { ...place, cwd }
}

/** The user's own folders may have the same names: the last occurrence is ours. */
function relocateWorktree(cwd: string, worktrees: string): string {
  const at = cwd.lastIndexOf(`/${WORKTREES_FOLDER}/`)
  return at === -1 ? cwd : `${worktrees}${cwd.slice(at + WORKTREES_FOLDER.length + 1)}`
}
