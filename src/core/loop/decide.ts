import type { Instant } from '../../lib/time.ts'
import { syncList } from './list/sync-tasks.ts'
import { newIteration, addNotes, withStop, updateTask } from './loop-updates.ts'
import { chooseNextTask } from './schedule.ts'
import { loopOutcome } from './outcome.ts'
import { onBaselineChecked } from './baseline-check.ts'
import { onVerified } from './reactions/verified.ts'
import { type LoopOutcome, isInProgress, type Loop, type LoopTask } from './loop-state.ts'
import { onWorkRestored, reopenTasks, workSpan } from './lost-work/lost-work.ts'
import { onConflict, onWorktreeRemoved, onMerged, withoutKeptWorktrees } from './reactions/merge.ts'
import { onPlanRead, onPlanMissing } from './reactions/plan.ts'
import type { LoopSignal, LoopSignalOf, LoopSignalType } from './signals.ts'
import { onWorkerStarted, onEffectFailed, onWorkerExit, onCheckoutReady, onWorkerResting } from './reactions/worker.ts'
import { increaseConcurrency } from './schedule.ts'

type LoopReactions = { readonly [T in LoopSignalType]: (loop: Loop, signal: LoopSignalOf<T>) => Loop }

const REACTIONS: LoopReactions = {
  'loop.loaded': onLoaded,
  'loop.unplanned': onPlanMissing,
  'loop.impossible': (loop, { at, reason }) => endLoop(loop, at, { kind: 'unfinished', reason }),
  'user.resume': onResume,
  'clock.due': loop => loop,
  'checkout.ready': onCheckoutReady,
  'effect.failed': onEffectFailed,
  'worker.started': onWorkerStarted,
  'worker.rests': onWorkerResting,
  'worker.ended': onWorkerExit,
  'task.verified': onVerified,
  'task.merged': onMerged,
  'task.conflicted': onConflict,
  'worktree.removed': onWorktreeRemoved,
  'loop.audited': onAudited,
  'work.restored': onWorkRestored,
  'baseline.checked': onBaselineChecked,
  'plan.read': onPlanRead,
  'list.marked': onMarked,
  'loop.landed': (loop, { at, removedWorktrees }) =>
    endLoop({ ...withoutKeptWorktrees(loop, removedWorktrees), landedAt: at }, at, loopOutcome(loop)),
  'landing.failed': (loop, { at, reason }) =>
    endLoop(loop, at, { kind: 'unfinished', reason: `${loopOutcome(loop).reason}, but not landed: ${reason}` }),
}

/** Decides what follows from a signal and returns the new loop. `effectsOf` derives the effects from it. */
export function decideLoop(loop: Loop, signal: LoopSignal): Loop {
  const isOver = loop.stage.name === 'ended' && !ACCEPTED_AFTER_END.has(signal.type)
  if (isOver) return loop
  const answer = REACTIONS[signal.type] as (loop: Loop, signal: LoopSignal) => Loop
  return advance(answer(loop, signal), signal.at)
}

const ACCEPTED_AFTER_END: ReadonlySet<LoopSignalType> = new Set([
  'user.resume',
  'list.marked',
  'worktree.removed',
  'loop.loaded',
  'loop.impossible',
])

/** Somebody may have edited the list by hand while no program ran. An ended loop only updates its state. */
function onLoaded(loop: Loop, { at, list, base }: LoopSignalOf<'loop.loaded'>): Loop {
  const { branch, tip, tickAt, notes, losses } = base
  const only = loop.only ?? list.items.find(({ label }) => label === loop.spec.only)?.key ?? null
  const { userChanges = base.userChanges } = loop
  const { userBranch = loop.userBranch } = base
  const seen = { ...(userChanges !== undefined && { userChanges }), ...(userBranch !== undefined && { userBranch }) }
  const known = { ...loop, branch, tip: loop.tip ?? tip, tickAt, only, ...seen }
  const adopted = reopenTasks(addNotes(syncList(known, list, at), notes), losses, { at, by: null })
  return loop.stage.name === 'beginning' ? { ...adopted, stage: { name: 'working' } } : adopted
}

/** Reopens tasks whose work was lost; without any, the audit is done. */
function onAudited(loop: Loop, { at, losses, notes }: LoopSignalOf<'loop.audited'>): Loop {
  const { audit: _, ...rest } = loop
  const isLost = losses.some(({ task }) => task !== null)
  const seen: Loop = isLost ? rest : { ...rest, audit: 'done' }
  return addNotes(reopenTasks(seen, losses, { at, by: null }), notes)
}

/** Reports a failed mark, and does not retry it for ever. */
function onMarked(loop: Loop, { marks, trouble }: LoopSignalOf<'list.marked'>): Loop {
  const marksToWrite = loop.marksToWrite.filter(
    mark => !marks.some(one => one.key === mark.key && one.isDone === mark.isDone),
  )
  return addNotes({ ...loop, marksToWrite }, trouble === null ? [] : [trouble])
}

/** Starts all tasks that can start, and ends the loop if none can. */
function advance(loop: Loop, at: Instant): Loop {
  if (loop.stage.name !== 'working') return loop
  const wide = increaseConcurrency(loop, at)
  const choice = chooseNextTask(wide, at)
  if (choice.kind === 'begin') return advance(startTask(wide, choice.task, at), at)
  if (choice.kind === 'wait') return wide
  if (isAuditDue(wide)) return wide.audit === 'wanted' ? wide : { ...wide, audit: 'wanted' }
  const ending = loopOutcome(wide)
  const isToLand = ending.kind === 'done' && wide.spec.land && wide.branch !== null
  return isToLand ? { ...wide, stage: { name: 'landing' } } : endLoop(wide, at, ending)
}

/** In worktrees, no merge removes finished work. */
function isAuditDue(loop: Loop): boolean {
  return loop.branch === null && loop.audit !== 'done' && loop.tasks.some(task => workSpan(task) !== null)
}

function startTask(loop: Loop, { item }: LoopTask, at: Instant): Loop {
  const { audit: _, ...known } = loop
  const iteration = loop.iterations + 1
  const begun = updateTask(known, item.key, task => ({
    ...task,
    state: { name: 'opening', role: 'task' },
    checkout: continuesEarlierWork(loop, task) ? task.checkout : null,
    tries: [...task.tries, newIteration(iteration, 'task', at)],
  }))
  return { ...begun, iterations: iteration, lastStartAt: at }
}

/**
 * In the user's checkout, the changes since a task started belong to it only if the loop worked on nothing else in
 * between.
 */
function continuesEarlierWork(loop: Loop, { tries }: LoopTask): boolean {
  const last = tries.at(-1)
  return loop.branch !== null || last?.iteration === loop.iterations || last?.failure?.kind === 'weakened'
}

function endLoop(loop: Loop, at: Instant, ending: LoopOutcome): Loop {
  return { ...loop, stage: { name: 'ended', at, ending } }
}

/**
 * A resume forgives failures: the loop retries blocked tasks, and merges conflicts that somebody has resolved. A resume
 * for one task forgives no other.
 */
function onResume(loop: Loop, { at, resumedAt, stoppedAt }: LoopSignalOf<'user.resume'>): Loop {
  const { audit: _, retriedTask, ...known } = loop
  const woken = {
    ...known,
    resumedAt,
    halt: null,
    lastStartAt: null,
    concurrencySince: at,
    tasks: loop.tasks
      .map(task => (isInProgress(task) ? withStop(task, { from: stoppedAt, to: at }) : task))
      .map((task): LoopTask => (task.addedBy === undefined ? task : { ...task, isAccepted: true }))
      .map(task => (retriedTask === undefined ? forgiveTask(task, loop, at) : task)),
  }
  if (loop.stage.name !== 'ended') return woken
  const isUnplanned = loop.tasks.length === 0 && loop.spec.plan !== 'none'
  const stage = isUnplanned ? ({ name: 'beginning' } as const) : ({ name: 'working' } as const)
  return { ...woken, stage, forgivenIterations: loop.iterations, plan: isUnplanned ? [] : loop.plan }
}

function forgiveTask(task: LoopTask, { branch }: Loop, at: Instant): LoopTask {
  if (task.state.name !== 'blocked') return task
  const role = task.resolution === null ? 'task' : 'resolve'
  const isConflict = task.state.failure.kind === 'conflict'
  // Otherwise the weaker check would become the baseline.
  const isWeakened = task.state.failure.kind === 'weakened'
  const state = isConflict ? ({ name: 'merging', role, isByHand: true } as const) : ({ name: 'open' } as const)
  return {
    ...(isConflict ? withStop(task, { from: task.state.at, to: at }) : task),
    state,
    forgivenTries: task.tries.length,
    reopened: 0,
    checkout: branch === null && !isWeakened ? null : task.checkout,
  }
}
