import type { Instant } from '../../lib/time.ts'
import { isCheckDue } from './first-check.ts'
import { isAtWork, type Loop, type LoopTask } from './loop.ts'

/** Why nothing is begun although something is open, as a sentence; the task that is to be begun; or nothing for now. */
export type Choice =
  | { readonly kind: 'begin'; readonly task: LoopTask }
  /** Something goes on, or will. */
  | { readonly kind: 'wait'; readonly until: Instant | null }
  /** Nothing more can be done. */
  | { readonly kind: 'over' }

/** What is wanted of a loop: all of its list, or one task of it. */
export function wantedOf({ tasks, spec, only }: Loop): readonly LoopTask[] {
  const listed = tasks.filter(({ stand }) => stand.name !== 'dropped')
  if (spec.only === null) return listed
  return listed.filter(({ item }) => (only === null ? item.label === spec.only : item.key === only))
}

/** Decides which task is next. They are taken in the order of the list, each when all that it waits for is done. */
export function choose(loop: Loop, at: Instant): Choice {
  const { spec, width, lastStartAt, halt } = loop
  const atWork = loop.tasks.filter(isAtWork)
  const busy = atWork.filter(({ stand }) => stand.name !== 'merging').length
  const next = nextOf(loop)
  if (next === undefined || halt !== null || isSpent(loop)) {
    return atWork.length > 0 ? { kind: 'wait', until: null } : { kind: 'over' }
  }
  if (isCheckDue(loop)) return { kind: 'wait', until: null }
  if (busy >= width) return { kind: 'wait', until: null }
  const earliest = lastStartAt === null || busy === 0 ? at : lastStartAt + spec.stagger
  return at < earliest ? { kind: 'wait', until: earliest } : { kind: 'begin', task: next }
}

/** Whether a task waits for nothing but its turn. */
export function isAnyToBegin(loop: Loop): boolean {
  return nextOf(loop) !== undefined && loop.halt === null && !isSpent(loop)
}

function nextOf(loop: Loop): LoopTask | undefined {
  const isFull = isAddedFull(loop)
  return wantedOf(loop).find(task => task.stand.name === 'open' && !(isFull && isHeldBack(task)) && isReady(loop, task))
}

/** An agent may find one thing or another that is missing; a list that grows with each task never ends. */
export const MAX_ADDED = 10

/** As many tasks that agents added were begun as may be without a person. */
export function isAddedFull({ tasks, spec }: Loop): boolean {
  const begun = tasks.filter(task => isUnaccepted(task) && task.tries.length > 0).length
  return begun >= (spec.maxAdded ?? MAX_ADDED)
}

/** An agent added it, it was not begun, and no person has agreed. */
export function isHeldBack(task: LoopTask): boolean {
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
export function isSpent({ spec, iterations, waived }: Loop): boolean {
  return spec.maxIterations !== null && iterations - waived >= spec.maxIterations
}
