import { withTask } from './change.ts'
import type { Loop, LoopTask } from './loop.ts'

/**
 * Opens a task again for a loop that does not run, as if it had not been tried. Afresh it gets another number, and so another worktree
 * and branch: the earlier work stays where it is, and no agent continues it.
 */
export function retried(loop: Loop, key: string, { isFresh }: { isFresh: boolean }): Loop {
  const next = Math.max(0, ...loop.tasks.map(task => task.number)) + 1
  return withTask(loop, key, task => ({
    ...withoutMemory(task),
    stand: { name: 'open' },
    pardoned: task.tries.length,
    reopened: 0,
    resolution: null,
    clash: [],
    evidence: null,
    number: isFresh ? next : task.number,
    // In the user's checkout the work counts from now on.
    place: isFresh || loop.branch === null ? null : task.place,
    isCleared: isFresh || task.isCleared,
  }))
}

/** Without what is remembered of earlier work. */
function withoutMemory(task: LoopTask): LoopTask {
  const { sealed: _, undone: __, kept: ___, ...rest } = task
  return rest
}
