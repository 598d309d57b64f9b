import type { Instant } from '../../lib/time.ts'
import { choose, isAnyToBegin } from './choose.ts'
import { hasWork } from './evidence.ts'
import { isCheckDue } from './first-check.ts'
import type { Mark } from './item.ts'
import type { Loop, LoopTask, Role } from './loop.ts'
import { widensAt } from './width.ts'

/** What is to be done, now or still. Each may be begun again from its beginning: it finds what was done already. */
export type Deed = { readonly key: string } /** Looks at the list, the repository and the integration branch. */ & (
  | { readonly type: 'begin' }
  | { readonly type: 'prepare'; readonly task: LoopTask; readonly role: Role }
  /** Sees to it that the iteration's session is there, and follows it to its end. */
  | { readonly type: 'tend'; readonly task: LoopTask | null; readonly role: Role; readonly iteration: number }
  | { readonly type: 'judge'; readonly task: LoopTask; readonly role: Role; readonly iteration: number }
  | { readonly type: 'merge'; readonly task: LoopTask; readonly role: Role }
  | { readonly type: 'clear'; readonly task: LoopTask }
  | { readonly type: 'first-check' }
  | { readonly type: 'see-plan' }
  | { readonly type: 'mark'; readonly marks: readonly Mark[] }
  | { readonly type: 'land' }
  /** Looks whether finished work is still there. */
  | { readonly type: 'audit' }
)

/** All that follows from how a loop stands. */
export function deedsOf(loop: Loop): Deed[] {
  const { name } = loop.stage
  if (name === 'beginning') return [{ key: 'begin', type: 'begin' }]
  if (name === 'planning') return [planDeed(loop)]
  const afterwards = [...markDeeds(loop), ...loop.tasks.flatMap(clearDeeds)]
  if (name === 'ended') return [...afterwards, ...loop.tasks.flatMap(vainDeeds)]
  if (name === 'landing') return [...afterwards, { key: 'land', type: 'land' }]
  const audit: Deed[] = loop.audit === 'wanted' ? [{ key: `audit ${loop.iterations}`, type: 'audit' }] : []
  const check: Deed[] = isCheckDue(loop) && isAnyToBegin(loop) ? [{ key: 'first-check', type: 'first-check' }] : []
  return [...afterwards, ...check, ...loop.tasks.flatMap(taskDeeds), ...mergeDeeds(loop), ...audit]
}

/**
 * The deeds to begin beside those under way. A merge that was called off, because another one comes first, may still move the branch of
 * the loop: the next one begins when it has ended.
 */
export function toBegin(deeds: readonly Deed[], underWay: ReadonlySet<string>): Deed[] {
  const isMerging = [...underWay].some(key => key.startsWith('merge '))
  return deeds.filter(({ key, type }) => !underWay.has(key) && !(type === 'merge' && isMerging))
}

function planDeed(loop: Loop): Deed {
  const last = loop.plan.at(-1)
  const iteration = last?.iteration ?? 0
  return (last?.until ?? null) === null
    ? { key: `tend ${iteration}`, type: 'tend', task: null, role: 'plan', iteration }
    : { key: `see-plan ${iteration}`, type: 'see-plan' }
}

function taskDeeds(task: LoopTask): Deed[] {
  const { stand, tries } = task
  const iteration = tries.at(-1)?.iteration ?? 0
  switch (stand.name) {
    case 'opening':
      return [{ key: `prepare ${iteration}`, type: 'prepare', task, role: stand.role }]
    case 'working':
      return [{ key: `tend ${iteration}`, type: 'tend', task, role: stand.role, iteration }]
    case 'judging':
      return [{ key: `judge ${iteration}`, type: 'judge', task, role: stand.role, iteration }]
    default:
      return []
  }
}

/** One at a time, and nothing is cleared away before it is merged. */
function mergeDeeds({ tasks }: Loop): Deed[] {
  const waiting = tasks.filter(({ stand }) => stand.name === 'merging')
  const [task] = waiting.toSorted((one, other) => lastUntil(one) - lastUntil(other))
  if (task === undefined || task.stand.name !== 'merging') return []
  const { role } = task.stand
  return [{ key: `merge ${task.number} ${task.tries.length}`, type: 'merge', task, role }]
}

function lastUntil({ tries }: LoopTask): Instant {
  return tries.at(-1)?.until ?? 0
}

function clearDeeds(task: LoopTask): Deed[] {
  return task.stand.name === 'done' && !task.isCleared ? [{ key: `clear ${task.number}`, type: 'clear', task }] : []
}

/** Where nothing came of it, nothing can be lost. */
function vainDeeds(task: LoopTask): Deed[] {
  const isVain = task.stand.name === 'blocked' && task.evidence !== null && !hasWork(task.evidence)
  return isVain && !task.isCleared ? [{ key: `clear ${task.number}`, type: 'clear', task }] : []
}

function markDeeds({ marking, toMark, landedAt }: Loop): Deed[] {
  const isTime = marking === 'here' || landedAt !== null
  return isTime && toMark.length > 0 ? [{ key: `mark ${JSON.stringify(toMark)}`, type: 'mark', marks: toMark }] : []
}

/** When something may be begun that may not be now. */
export function dueOf(loop: Loop, now: Instant): Instant | null {
  if (loop.stage.name !== 'working') return null
  const choice = choose(loop, now)
  const times = [choice.kind === 'wait' ? choice.until : null, widensAt(loop)].filter(time => time !== null)
  return times.length === 0 ? null : Math.min(...times)
}
