import type { Iteration, Loop, LoopTask, TaskFailure } from './loop-state.ts'
import { updateTask } from './loop-updates.ts'

/** A task with varying failures gets at most this many times the usual number of iterations. */
const MAX_RETRY_FACTOR = 2

/** Returns true if the loop gives a task up: the same failure again and again, or too many of any kind. */
export function isGivenUp(
  { tries, forgivenTries }: Pick<LoopTask, 'tries' | 'forgivenTries'>,
  retries: number,
): boolean {
  const failures = tries.slice(forgivenTries).flatMap(({ failure }) => (failure === null ? [] : [failure]))
  return countSameInARow(failures) >= retries || failures.length >= MAX_RETRY_FACTOR * retries
}

function countSameInARow(failures: readonly TaskFailure[]): number {
  const kind = failures.at(-1)?.kind
  const other = failures.findLastIndex(failure => failure.kind !== kind)
  return failures.length - 1 - other
}

/** Returns the failed iterations for the next worker, newest last. */
export function failedIterations({
  tries,
}: Pick<LoopTask, 'tries'>): readonly (Iteration & { readonly failure: TaskFailure })[] {
  return tries.filter((one): one is Iteration & { readonly failure: TaskFailure } => one.failure !== null)
}

/**
 * Opens a task again, without its earlier iterations, for a loop that does not run. A fresh task gets another number,
 * and so another worktree and branch: the earlier work stays where it is, and no agent continues it.
 */
export function resetForRetry(loop: Loop, key: string, { isFresh }: { isFresh: boolean }): Loop {
  const next = Math.max(0, ...loop.tasks.map(task => task.number)) + 1
  return updateTask({ ...loop, retriedTask: key }, key, task => ({
    ...forgetEarlierWork(task),
    state: { name: 'open' },
    forgivenTries: task.tries.length,
    reopened: 0,
    resolution: null,
    conflicts: [],
    evidence: null,
    number: isFresh ? next : task.number,
    // In the user's checkout the work counts from now on.
    checkout: isFresh || loop.branch === null ? null : task.checkout,
    isWorktreeRemoved: isFresh || task.isWorktreeRemoved,
  }))
}

/** Returns the task without the record of its earlier work. */
function forgetEarlierWork(task: LoopTask): LoopTask {
  const { verifiedCommit: _, previousCompletion: __, remainingWork: ___, ...rest } = task
  return rest
}
