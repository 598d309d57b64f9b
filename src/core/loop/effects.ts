import type { Instant } from '../../lib/time.ts'
import { chooseNextTask, hasStartableTask } from './schedule.ts'
import { hasWork } from './work-evidence.ts'
import { isCheckDue } from './baseline-check.ts'
import type { ItemMark } from './list/task-list.ts'
import type { Loop, LoopTask, WorkerRole } from './loop.ts'
import { nextIncreaseAt } from './schedule.ts'

/**
 * An action that the loop still has to perform. The loop may start each effect again from its beginning: the effect
 * finds its earlier results. `begin` reads the list, the repository and the integration branch.
 */
export type LoopEffect = { readonly key: string } & (
  | { readonly type: 'begin' }
  | { readonly type: 'prepare'; readonly task: LoopTask; readonly role: WorkerRole }
  /** Ensures that the iteration's session exists, and follows it to its end. */
  | { readonly type: 'tend'; readonly task: LoopTask | null; readonly role: WorkerRole; readonly iteration: number }
  | { readonly type: 'judge'; readonly task: LoopTask; readonly role: WorkerRole; readonly iteration: number }
  | { readonly type: 'merge'; readonly task: LoopTask; readonly role: WorkerRole }
  | { readonly type: 'clear'; readonly task: LoopTask }
  | { readonly type: 'first-check' }
  | { readonly type: 'see-plan' }
  | { readonly type: 'mark'; readonly marks: readonly ItemMark[] }
  | { readonly type: 'land' }
  /** Searches for lost finished work. */
  | { readonly type: 'audit' }
)

/** Returns all effects that follow from the state of a loop. */
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
 * Returns the effects to start beside those under way. A merge that was cancelled, because another one comes first, may
 * still move the loop's branch: the next merge starts after its end.
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

/** Merges run one at a time, and no worktree goes before its merge. */
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

/** A task without any work has nothing to lose. */
function unusedRemovalEffects(task: LoopTask): LoopEffect[] {
  const isVain = task.stand.name === 'blocked' && task.evidence !== null && !hasWork(task.evidence)
  return isVain && !task.isCleared ? [{ key: `clear ${task.number}`, type: 'clear', task }] : []
}

function markEffects({ marking, toMark, landedAt }: Loop): LoopEffect[] {
  const isTime = marking === 'here' || landedAt !== null
  return isTime && toMark.length > 0 ? [{ key: `mark ${JSON.stringify(toMark)}`, type: 'mark', marks: toMark }] : []
}

/** Returns the time at which the loop may start something that it may not start now. */
export function loopDueAt(loop: Loop, now: Instant): Instant | null {
  if (loop.stage.name !== 'working') return null
  const choice = chooseNextTask(loop, now)
  const times = [choice.kind === 'wait' ? choice.until : null, nextIncreaseAt(loop)].filter(time => time !== null)
  return times.length === 0 ? null : Math.min(...times)
}
