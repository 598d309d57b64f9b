import type { Duration, Instant } from '../../lib/time.ts'
import { isCheckDue } from './baseline-check.ts'
import { type Loop, type LoopTask, isInProgress } from './loop.ts'

/** Why nothing is begun although something is open, as a sentence; the task that is to be begun; or nothing for now. */
export type NextTask =
  | { readonly kind: 'begin'; readonly task: LoopTask }
  /** Something goes on, or will. */
  | { readonly kind: 'wait'; readonly until: Instant | null }
  /** Nothing more can be done. */
  | { readonly kind: 'over' }

/** What is wanted of a loop: all of its list, or one task of it. */
export function requestedTasks({ tasks, spec, only }: Loop): readonly LoopTask[] {
  const listed = tasks.filter(({ stand }) => stand.name !== 'dropped')
  if (spec.only === null) return listed
  return listed.filter(({ item }) => (only === null ? item.label === spec.only : item.key === only))
}

/** Decides which task is next. They are taken in the order of the list, each when all that it waits for is done. */
export function chooseNextTask(loop: Loop, at: Instant): NextTask {
  const { spec, width, lastStartAt, halt } = loop
  const atWork = loop.tasks.filter(isInProgress)
  const busy = atWork.filter(({ stand }) => stand.name !== 'merging').length
  const next = findNextTask(loop)
  if (next === undefined || halt !== null || isIterationLimitReached(loop)) {
    return atWork.length > 0 ? { kind: 'wait', until: null } : { kind: 'over' }
  }
  if (isCheckDue(loop)) return { kind: 'wait', until: null }
  if (busy >= width) return { kind: 'wait', until: null }
  const earliest = lastStartAt === null || busy === 0 ? at : lastStartAt + spec.stagger
  return at < earliest ? { kind: 'wait', until: earliest } : { kind: 'begin', task: next }
}

/** Whether a task waits for nothing but its turn. */
export function hasStartableTask(loop: Loop): boolean {
  return findNextTask(loop) !== undefined && loop.halt === null && !isIterationLimitReached(loop)
}

function findNextTask(loop: Loop): LoopTask | undefined {
  const isFull = isAddedLimitReached(loop)
  return requestedTasks(loop).find(
    task => task.stand.name === 'open' && !(isFull && awaitsAcceptance(task)) && isReady(loop, task),
  )
}

/** An agent may find one thing or another that is missing; a list that grows with each task never ends. */
export const MAX_ADDED = 10

/** As many tasks that agents added were begun as may be without a person. */
export function isAddedLimitReached({ tasks, spec }: Loop): boolean {
  const begun = tasks.filter(task => isUnaccepted(task) && task.tries.length > 0).length
  return begun >= (spec.maxAdded ?? MAX_ADDED)
}

/** An agent added it, it was not begun, and no person has agreed. */
export function awaitsAcceptance(task: LoopTask): boolean {
  return isUnaccepted(task) && task.tries.length === 0
}

function isUnaccepted({ addedBy, isAccepted }: LoopTask): boolean {
  return addedBy !== undefined && isAccepted !== true
}

/** In a list that is worked on here, one after the other, an item that is not there any more is waited for by nobody. */
export function isReady({ tasks }: Loop, { item }: LoopTask): boolean {
  return tasks.every(
    ({ item: other, stand }) => !item.after.includes(other.key) || ['done', 'dropped'].includes(stand.name),
  )
}

/** All iterations that were allowed are used up. */
export function isIterationLimitReached({ spec, iterations, waived }: Loop): boolean {
  return spec.maxIterations !== null && iterations - waived >= spec.maxIterations
}

/** After so long without a limit one more is let in again. */
const INCREASE_AFTER: Duration = 300_000

/** Workers of one account meet the same limit one after the other. */
const SAME_LIMIT_WINDOW: Duration = 60_000

/** A usage limit was met: half as many at a time, but one. */
export function reduceConcurrency(loop: Loop, at: Instant): Loop {
  if (loop.limitedAt !== null && at < loop.limitedAt + SAME_LIMIT_WINDOW) return { ...loop, widthSince: at }
  return { ...loop, width: Math.max(1, Math.floor(loop.width / 2)), widthSince: at, limitedAt: at }
}

/** One more, once it has been calm for long enough. */
export function increaseConcurrency(loop: Loop, at: Instant): Loop {
  const isLimited = loop.tasks.some(({ stand }) => stand.name === 'working' && stand.rest !== null)
  if (loop.width >= (loop.spec.parallel ?? 1) || isLimited || at < loop.widthSince + INCREASE_AFTER) return loop
  return { ...loop, width: loop.width + 1, widthSince: at }
}

/** When it may be widened next; null when it is as wide as it gets. */
export function nextIncreaseAt(loop: Loop): Instant | null {
  return loop.width >= (loop.spec.parallel ?? 1) ? null : loop.widthSince + INCREASE_AFTER
}
