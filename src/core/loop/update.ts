import type { Instant } from '../../lib/time.ts'
import { NO_USAGE } from '../session/usage.ts'
import type { ListItem } from './list/task-list.ts'
import type { Iteration, Loop, LoopTask, Span, TaskFailure, WorkerRole } from './loop.ts'

export function findTask(loop: Loop, key: string): LoopTask | undefined {
  return loop.tasks.find(({ item }) => item.key === key)
}

/** The loop with one task changed. */
export function updateTask(loop: Loop, key: string, change: (task: LoopTask) => LoopTask): Loop {
  return { ...loop, tasks: loop.tasks.map(task => (task.item.key === key ? change(task) : task)) }
}

/** The task with its newest try changed. */
export function updateLastIteration(task: LoopTask, change: Partial<Iteration>): LoopTask {
  return { ...task, tries: updateLast(task.tries, change) }
}

export function updateLast(tries: readonly Iteration[], change: Partial<Iteration>): readonly Iteration[] {
  return tries.map((one, at) => (at === tries.length - 1 ? { ...one, ...change } : one))
}

/** The task whose newest try was interrupted by a stop of the loop. */
export function withStop(task: LoopTask, stop: Span): LoopTask {
  return updateLastIteration(task, { stops: [...(task.tries.at(-1)?.stops ?? []), stop] })
}

export function newIteration(iteration: number, role: WorkerRole, since: Instant): Iteration {
  return { iteration, role, session: null, since, until: null, spent: NO_USAGE, flaw: null, verdict: null }
}

export function newTask(item: ListItem, number: number): LoopTask {
  return {
    item,
    stand: { name: 'open' },
    tries: [],
    place: null,
    resolution: null,
    evidence: null,
    clash: [],
    number,
    pardoned: 0,
    isMissing: false,
    isCleared: true,
  }
}

/** One sentence more, unless it was said already. */
export function addNotes(loop: Loop, notes: readonly string[]): Loop {
  const fresh = notes.filter(note => !loop.notes.includes(note))
  return fresh.length === 0 ? loop : { ...loop, notes: [...loop.notes, ...fresh] }
}

/** What its box should be. */
export function requestMark(loop: Loop, key: string, isDone: boolean, reason: string): Loop {
  return { ...loop, toMark: [...loop.toMark.filter(mark => mark.key !== key), { key, isDone, reason }] }
}

/** However different its failures are, no task gets more iterations than this many times the usual. */
const MAX_RETRY_FACTOR = 2

/** Whether a task is given up on: the same failure again and again, or too many of any kind. */
export function isGivenUp({ tries, pardoned }: Pick<LoopTask, 'tries' | 'pardoned'>, retries: number): boolean {
  const failures = tries.slice(pardoned).flatMap(({ flaw }) => (flaw === null ? [] : [flaw]))
  return countSameInARow(failures) >= retries || failures.length >= MAX_RETRY_FACTOR * retries
}

function countSameInARow(failures: readonly TaskFailure[]): number {
  const kind = failures.at(-1)?.kind
  const other = failures.findLastIndex(failure => failure.kind !== kind)
  return failures.length - 1 - other
}

/** What was tried so far, for whoever tries next: the newest last. */
export function failedIterations({
  tries,
}: Pick<LoopTask, 'tries'>): readonly (Iteration & { readonly flaw: TaskFailure })[] {
  return tries.filter((one): one is Iteration & { readonly flaw: TaskFailure } => one.flaw !== null)
}

/**
 * Opens a task again for a loop that does not run, as if it had not been tried. Afresh it gets another number, and so another worktree
 * and branch: the earlier work stays where it is, and no agent continues it.
 */
export function resetForRetry(loop: Loop, key: string, { isFresh }: { isFresh: boolean }): Loop {
  const next = Math.max(0, ...loop.tasks.map(task => task.number)) + 1
  return updateTask(loop, key, task => ({
    ...forgetEarlierWork(task),
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
function forgetEarlierWork(task: LoopTask): LoopTask {
  const { sealed: _, undone: __, kept: ___, ...rest } = task
  return rest
}
