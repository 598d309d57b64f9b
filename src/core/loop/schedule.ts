import type { Duration, Instant } from '../../lib/time.ts'
import { isCheckDue } from './baseline-check.ts'
import { type Loop, type LoopTask, isInProgress } from './loop-state.ts'

/** The next step of the schedule. */
export type NextTask =
  | { readonly kind: 'begin'; readonly task: LoopTask }
  /** A task is at work, or will be. */
  | { readonly kind: 'wait'; readonly until: Instant | null }
  /** The loop can do nothing more. */
  | { readonly kind: 'over' }

/** Returns the tasks that the user wants: all of the list, or one. */
export function requestedTasks({ tasks, spec, only }: Loop): readonly LoopTask[] {
  const listed = tasks.filter(({ state }) => state.name !== 'dropped')
  if (spec.only === null) return listed
  return listed.filter(({ item }) => (only === null ? item.label === spec.only : item.key === only))
}

/**
 * Decides which task is next. The loop takes tasks in the order of the list, each when all its dependencies are done.
 */
export function chooseNextTask(loop: Loop, at: Instant): NextTask {
  const { spec, concurrency, lastStartAt, halt } = loop
  const atWork = loop.tasks.filter(isInProgress)
  const busy = atWork.filter(({ state }) => state.name !== 'merging').length
  const next = findNextTask(loop)
  if (next === undefined || halt !== null || isIterationLimitReached(loop)) {
    return atWork.length > 0 ? { kind: 'wait', until: null } : { kind: 'over' }
  }
  if (isCheckDue(loop)) return { kind: 'wait', until: null }
  if (busy >= concurrency) return { kind: 'wait', until: null }
  const earliest = lastStartAt === null || busy === 0 ? at : lastStartAt + spec.stagger
  return at < earliest ? { kind: 'wait', until: earliest } : { kind: 'begin', task: next }
}

/** Returns true if a task waits only for its turn. */
export function hasStartableTask(loop: Loop): boolean {
  return findNextTask(loop) !== undefined && loop.halt === null && !isIterationLimitReached(loop)
}

function findNextTask(loop: Loop): LoopTask | undefined {
  const isFull = isAddedLimitReached(loop)
  return requestedTasks(loop).find(
    task => task.state.name === 'open' && !(isFull && awaitsAcceptance(task)) && isReady(loop, task),
  )
}

/** An agent may find a few missing tasks; a list that grows with each task never ends. */
export const MAX_ADDED = 10

/** Returns true if the loop has started as many added tasks as it may without a person. */
export function isAddedLimitReached({ tasks, spec }: Loop): boolean {
  const begun = tasks.filter(task => isUnaccepted(task) && task.tries.length > 0).length
  return begun >= (spec.maxAdded ?? MAX_ADDED)
}

/** Returns true if an agent added the task, it has not started, and no person has agreed. */
export function awaitsAcceptance(task: LoopTask): boolean {
  return isUnaccepted(task) && task.tries.length === 0
}

function isUnaccepted({ addedBy, isAccepted }: LoopTask): boolean {
  return addedBy !== undefined && isAccepted !== true
}

/** In a list that the loop works on here, one after the other, no task waits for an item that is gone. */
export function isReady({ tasks }: Loop, { item }: LoopTask): boolean {
  return tasks.every(
    ({ item: other, state }) => !item.after.includes(other.key) || ['done', 'dropped'].includes(state.name),
  )
}

/** Returns true if the loop has used all allowed iterations. */
export function isIterationLimitReached({ spec, iterations, forgivenIterations }: Loop): boolean {
  return spec.maxIterations !== null && iterations - forgivenIterations >= spec.maxIterations
}

/** After this time without a usage limit the loop allows one more worker. */
const INCREASE_AFTER: Duration = 300_000

/** Workers of one account meet the same limit one after the other. */
const SAME_LIMIT_WINDOW: Duration = 60_000

/** Halves the number of workers after a usage limit, but never below one. */
export function reduceConcurrency(loop: Loop, at: Instant): Loop {
  if (loop.limitedAt !== null && at < loop.limitedAt + SAME_LIMIT_WINDOW) return { ...loop, concurrencySince: at }
  return { ...loop, concurrency: Math.max(1, Math.floor(loop.concurrency / 2)), concurrencySince: at, limitedAt: at }
}

/** Allows one more worker after enough time without a limit. */
export function increaseConcurrency(loop: Loop, at: Instant): Loop {
  const isLimited = loop.tasks.some(({ state }) => state.name === 'working' && state.rest !== null)
  if (loop.concurrency >= (loop.spec.parallel ?? 1) || isLimited || at < loop.concurrencySince + INCREASE_AFTER)
    return loop
  return { ...loop, concurrency: loop.concurrency + 1, concurrencySince: at }
}

/** Returns the time of the next increase; null if the number is at its maximum. */
export function nextIncreaseAt(loop: Loop): Instant | null {
  return loop.concurrency >= (loop.spec.parallel ?? 1) ? null : loop.concurrencySince + INCREASE_AFTER
}
