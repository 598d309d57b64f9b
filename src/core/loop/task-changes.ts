import type { Instant } from '../../lib/time.ts'
import { NO_USAGE } from '../session/usage.ts'
import type { ListItem } from './list/task-list.ts'
import type { Iteration, Loop, LoopTask, Span, TaskFailure, WorkerRole } from './loop-state.ts'

export function findTask(loop: Loop, key: string): LoopTask | undefined {
  return loop.tasks.find(({ item }) => item.key === key)
}

/** Returns the loop with one task changed. */
export function updateTask(loop: Loop, key: string, change: (task: LoopTask) => LoopTask): Loop {
  return { ...loop, tasks: loop.tasks.map(task => (task.item.key === key ? change(task) : task)) }
}

/** Returns the task with its newest iteration changed. */
export function updateLastIteration(task: LoopTask, change: Partial<Iteration>): LoopTask {
  return { ...task, tries: updateLast(task.tries, change) }
}

export function updateLast(tries: readonly Iteration[], change: Partial<Iteration>): readonly Iteration[] {
  return tries.map((one, at) => (at === tries.length - 1 ? { ...one, ...change } : one))
}

/** Returns the task with a stop of the loop added to its newest iteration. */
export function withStop(task: LoopTask, stop: Span): LoopTask {
  return updateLastIteration(task, { stops: [...(task.tries.at(-1)?.stops ?? []), stop] })
}

export function newIteration(iteration: number, role: WorkerRole, since: Instant): Iteration {
  return { iteration, role, session: null, since, until: null, spent: NO_USAGE, failure: null, verdict: null }
}

export function newTask(item: ListItem, number: number): LoopTask {
  return {
    item,
    state: { name: 'open' },
    tries: [],
    checkout: null,
    resolution: null,
    evidence: null,
    conflicts: [],
    number,
    forgivenTries: 0,
    isMissing: false,
    isWorktreeRemoved: true,
  }
}

/** Adds the notes that the loop does not have yet. */
export function addNotes(loop: Loop, notes: readonly string[]): Loop {
  const fresh = notes.filter(note => !loop.notes.includes(note))
  return fresh.length === 0 ? loop : { ...loop, notes: [...loop.notes, ...fresh] }
}

/** Requests that the list marks an item as done or open. */
export function requestMark(loop: Loop, key: string, isDone: boolean, reason: string): Loop {
  return { ...loop, marksToWrite: [...loop.marksToWrite.filter(mark => mark.key !== key), { key, isDone, reason }] }
}

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
  return updateTask(loop, key, task => ({
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
