import type { Instant } from '../../lib/time.ts'
import { chooseNextTask, hasStartableTask } from './schedule.ts'
import { hasWork } from './work-evidence.ts'
import { isCheckDue } from './baseline-check.ts'
import type { ItemMark } from './list/task-list.ts'
import type { Loop, LoopTask, WorkerRole } from './loop-state.ts'
import { nextIncreaseAt } from './schedule.ts'

/**
 * An action that the loop still has to perform. The loop may start each effect again from its beginning: the effect
 * finds its earlier results. `begin` reads the list, the repository and the integration branch.
 */
export type LoopEffect = { readonly key: string } & (
  | { readonly type: 'load' }
  | { readonly type: 'prepare'; readonly task: LoopTask; readonly role: WorkerRole }
  /** Ensures that the iteration's session exists, and follows it to its end. */
  | {
      readonly type: 'run-worker'
      readonly task: LoopTask | null
      readonly role: WorkerRole
      readonly iteration: number
    }
  | { readonly type: 'verify'; readonly task: LoopTask; readonly role: WorkerRole; readonly iteration: number }
  | { readonly type: 'merge'; readonly task: LoopTask; readonly role: WorkerRole }
  | { readonly type: 'remove-worktree'; readonly task: LoopTask }
  | { readonly type: 'baseline-check' }
  | { readonly type: 'read-plan' }
  | { readonly type: 'write-marks'; readonly marks: readonly ItemMark[] }
  | { readonly type: 'land' }
  /** Searches for lost finished work. */
  | { readonly type: 'audit' }
)

/** Returns all effects that follow from the state of a loop. */
export function effectsOf(loop: Loop): LoopEffect[] {
  const { name } = loop.stage
  if (name === 'beginning') return [{ key: 'load', type: 'load' }]
  if (name === 'planning') return [planEffect(loop)]
  const afterwards = [...markEffects(loop), ...loop.tasks.flatMap(removalEffects)]
  if (name === 'ended') return [...afterwards, ...loop.tasks.flatMap(unusedRemovalEffects)]
  // The landing removes the integration branch, and a worktree is removed only if that branch has its commits.
  if (name === 'landing') return afterwards.length > 0 ? afterwards : [{ key: 'land', type: 'land' }]
  const audit: LoopEffect[] = loop.audit === 'wanted' ? [{ key: `audit ${loop.iterations}`, type: 'audit' }] : []
  const check: LoopEffect[] =
    isCheckDue(loop) && hasStartableTask(loop) ? [{ key: 'baseline-check', type: 'baseline-check' }] : []
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
    ? { key: `run-worker ${iteration}`, type: 'run-worker', task: null, role: 'plan', iteration }
    : { key: `read-plan ${iteration}`, type: 'read-plan' }
}

function taskEffects(task: LoopTask): LoopEffect[] {
  const { state, tries } = task
  const iteration = tries.at(-1)?.iteration ?? 0
  switch (state.name) {
    case 'opening':
      return [{ key: `prepare ${iteration}`, type: 'prepare', task, role: state.role }]
    case 'working':
      return [{ key: `run-worker ${iteration}`, type: 'run-worker', task, role: state.role, iteration }]
    case 'verifying':
      return [{ key: `verify ${iteration}`, type: 'verify', task, role: state.role, iteration }]
    default:
      return []
  }
}

/** Merges run one at a time, and no worktree goes before its merge. */
function mergeEffects({ tasks }: Loop): LoopEffect[] {
  const waiting = tasks.filter(({ state }) => state.name === 'merging')
  const [task] = waiting.toSorted((one, other) => lastEndedAt(one) - lastEndedAt(other))
  if (task === undefined || task.state.name !== 'merging') return []
  const { role } = task.state
  return [{ key: `merge ${task.number} ${task.tries.length}`, type: 'merge', task, role }]
}

function lastEndedAt({ tries }: LoopTask): Instant {
  return tries.at(-1)?.until ?? 0
}

function removalEffects(task: LoopTask): LoopEffect[] {
  return task.state.name === 'done' && !task.isWorktreeRemoved
    ? [{ key: `remove-worktree ${task.number}`, type: 'remove-worktree', task }]
    : []
}

/** A task without any work has nothing to lose. */
function unusedRemovalEffects(task: LoopTask): LoopEffect[] {
  const isVain = task.state.name === 'blocked' && task.evidence !== null && !hasWork(task.evidence)
  return isVain && !task.isWorktreeRemoved
    ? [{ key: `remove-worktree ${task.number}`, type: 'remove-worktree', task }]
    : []
}

function markEffects({ tickAt, marksToWrite, landedAt }: Loop): LoopEffect[] {
  const isTime = tickAt === 'here' || landedAt !== null
  return isTime && marksToWrite.length > 0
    ? [{ key: `write-marks ${JSON.stringify(marksToWrite)}`, type: 'write-marks', marks: marksToWrite }]
    : []
}

/**
 * Returns the time at which the loop may start something. That is now, if a pause has ended since the last decision,
 * for example while the runner stored it.
 */
export function loopDueAt(loop: Loop, now: Instant): Instant | null {
  if (loop.stage.name !== 'working') return null
  const choice = chooseNextTask(loop, now)
  const startAt = choice.kind === 'begin' ? now : choice.kind === 'wait' ? choice.until : null
  const times = [startAt, nextIncreaseAt(loop)].filter(time => time !== null)
  return times.length === 0 ? null : Math.min(...times)
}
