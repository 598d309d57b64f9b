import type { Instant } from '../../lib/time.ts'
import { chooseNextTask, hasStartableTask } from './schedule.ts'
import { hasWork } from './evidence.ts'
import { isCheckDue } from './baseline-check.ts'
import type { ItemMark } from './list/task-list.ts'
import type { Loop, LoopTask, WorkerRole } from './loop.ts'
import { nextIncreaseAt } from './schedule.ts'

/** What is to be done, now or still. Each may be begun again from its beginning: it finds what was done already. */
export type LoopEffect = {
  readonly key: string
} /** Looks at the list, the repository and the integration branch. */ & (
  | { readonly type: 'begin' }
  | { readonly type: 'prepare'; readonly task: LoopTask; readonly role: WorkerRole }
  /** Sees to it that the iteration's session is there, and follows it to its end. */
  | { readonly type: 'tend'; readonly task: LoopTask | null; readonly role: WorkerRole; readonly iteration: number }
  | { readonly type: 'judge'; readonly task: LoopTask; readonly role: WorkerRole; readonly iteration: number }
  | { readonly type: 'merge'; readonly task: LoopTask; readonly role: WorkerRole }
  | { readonly type: 'clear'; readonly task: LoopTask }
  | { readonly type: 'first-check' }
  | { readonly type: 'see-plan' }
  | { readonly type: 'mark'; readonly marks: readonly ItemMark[] }
  | { readonly type: 'land' }
  /** Looks whether finished work is still there. */
  | { readonly type: 'audit' }
)

/** All that follows from how a loop stands. */
export function effectsOf(loop: Loop): LoopEffect[] {
  const { name } = loop.stage
  if (name === 'beginning') return [{ key: 'begin', type: 'begin' }]
  if (name === 'planning') return [planEffect(loop)]
  const afterwards = [...markEffects(loop), ...loop.tasks.flatMap(removalEffects)]
  if (name === 'ended') return [...afterwards, ...loop.tasks.flatMap(unusedRemovalEffects)]
  if (name === 'landing') return [...afterwards, { key: 'land', type: 'land' }]
  const audit: LoopEffect[] = loop.audit === 'wanted' ? [{ key: `audit ${loop.iterations}`, type: 'audit' }] : []
  const check: LoopEffect[] =
    isCheckDue(loop) && hasStartableTask(loop) ? [{ key: 'first-check', type: 'first-check' }] : []
  return [...afterwards, ...check, ...loop.tasks.flatMap(taskEffects), ...mergeEffects(loop), ...audit]
}

/**
 * The deeds to begin beside those under way. A merge that was called off, because another one comes first, may still move the branch of
 * the loop: the next one begins when it has ended.
 */
export function effectsToStart(effects: readonly LoopEffect[], underWay: ReadonlySet<string>): LoopEffect[] {
  const isMerging = [...underWay].some(key => key.startsWith('merge '))
  return effects.filter(({ key, type }) => !underWay.has(key) && !(type === 'merge' && isMerging))
}

function planEffect(loop: Loop): LoopEffect {
  const last = loop.plan.at(-1)
  const iteration = last?.iteration ?? 0
  return (last?.until ?? null) === null
    ? { key: `tend ${iteration}`, type: 'tend', task: null, role: 'plan', iteration }
    : { key: `see-plan ${iteration}`, type: 'see-plan' }
}

function taskEffects(task: LoopTask): LoopEffect[] {
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
function mergeEffects({ tasks }: Loop): LoopEffect[] {
  const waiting = tasks.filter(({ stand }) => stand.name === 'merging')
  const [task] = waiting.toSorted((one, other) => lastEndedAt(one) - lastEndedAt(other))
  if (task === undefined || task.stand.name !== 'merging') return []
  const { role } = task.stand
  return [{ key: `merge ${task.number} ${task.tries.length}`, type: 'merge', task, role }]
}

function lastEndedAt({ tries }: LoopTask): Instant {
  return tries.at(-1)?.until ?? 0
}

function removalEffects(task: LoopTask): LoopEffect[] {
  return task.stand.name === 'done' && !task.isCleared ? [{ key: `clear ${task.number}`, type: 'clear', task }] : []
}

/** Where nothing came of it, nothing can be lost. */
function unusedRemovalEffects(task: LoopTask): LoopEffect[] {
  const isVain = task.stand.name === 'blocked' && task.evidence !== null && !hasWork(task.evidence)
  return isVain && !task.isCleared ? [{ key: `clear ${task.number}`, type: 'clear', task }] : []
}

function markEffects({ marking, toMark, landedAt }: Loop): LoopEffect[] {
  const isTime = marking === 'here' || landedAt !== null
  return isTime && toMark.length > 0 ? [{ key: `mark ${JSON.stringify(toMark)}`, type: 'mark', marks: toMark }] : []
}

/** When something may be begun that may not be now. */
export function loopDueAt(loop: Loop, now: Instant): Instant | null {
  if (loop.stage.name !== 'working') return null
  const choice = chooseNextTask(loop, now)
  const times = [choice.kind === 'wait' ? choice.until : null, nextIncreaseAt(loop)].filter(time => time !== null)
  return times.length === 0 ? null : Math.min(...times)
}
