import type { Instant } from '../../lib/time.ts'
import { NO_USAGE } from '../session/usage.ts'
import type { ListItem } from './list/task-list.ts'
import type { Iteration, Loop, LoopTask, Span, WorkerRole } from './loop-state.ts'

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
