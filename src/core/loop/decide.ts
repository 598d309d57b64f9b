import type { Instant } from '../../lib/time.ts'
import { syncList } from './list/sync.ts'
import { newIteration, addNotes, withStop, updateTask } from './update.ts'
import { chooseNextTask } from './schedule.ts'
import { loopOutcome } from './outcome.ts'
import { onCheckTried } from './baseline-check.ts'
import { onVerified } from './reactions/verified.ts'
import { type LoopOutcome, isInProgress, type Loop, type LoopTask } from './loop.ts'
import { onWorkRestored, reopenTasks, workSpan } from './lost-work.ts'
import { onConflict, onWorktreeRemoved, onMerged } from './reactions/merge.ts'
import { onPlanRead, onPlanMissing } from './reactions/plan.ts'
import type { LoopSignal, LoopSignalOf, LoopSignalType } from './signals.ts'
import { onWorkerStarted, onEffectFailed, onWorkerExit, onCheckoutReady, onWorkerResting } from './reactions/worker.ts'
import { increaseConcurrency } from './schedule.ts'

type LoopReactions = { readonly [T in LoopSignalType]: (loop: Loop, signal: LoopSignalOf<T>) => Loop }

const REACTIONS: LoopReactions = {
  'loop.begun': onBegun,
  'loop.unplanned': onPlanMissing,
  'loop.impossible': (loop, { at, reason }) => endLoop(loop, at, { kind: 'unfinished', reason }),
  'user.resume': onResume,
  'clock.due': loop => loop,
  'place.ready': onCheckoutReady,
  'deed.failed': onEffectFailed,
  'worker.begun': onWorkerStarted,
  'worker.rests': onWorkerResting,
  'worker.ended': onWorkerExit,
  'task.judged': onVerified,
  'task.merged': onMerged,
  'task.clashed': onConflict,
  'task.cleared': onWorktreeRemoved,
  'loop.audited': onAudited,
  'task.regained': onWorkRestored,
  'check.tried': onCheckTried,
  'plan.seen': onPlanRead,
  'list.marked': onMarked,
  'loop.landed': (loop, { at }) => endLoop({ ...loop, landedAt: at }, at, loopOutcome(loop)),
  'loop.unlanded': (loop, { at, reason }) =>
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
  'task.cleared',
  'loop.begun',
  'loop.impossible',
])

/** Somebody may have edited the list by hand while no program ran. An ended loop only updates its state. */
function onBegun(loop: Loop, { at, list, ground }: LoopSignalOf<'loop.begun'>): Loop {
  const { branch, tip, marking, notes, losses } = ground
  const only = loop.only ?? list.items.find(({ label }) => label === loop.spec.only)?.key ?? null
  const { yours = ground.yours } = loop
  const { home = loop.home } = ground
  const seen = { ...(yours !== undefined && { yours }), ...(home !== undefined && { home }) }
  const known = { ...loop, branch, tip: loop.tip ?? tip, marking, only, ...seen }
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
  const toMark = loop.toMark.filter(mark => !marks.some(one => one.key === mark.key && one.isDone === mark.isDone))
  return addNotes({ ...loop, toMark }, trouble === null ? [] : [trouble])
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
    stand: { name: 'opening', role: 'task' },
    place: continuesEarlierWork(loop, task) ? task.place : null,
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
  return loop.branch !== null || last?.iteration === loop.iterations || last?.flaw?.kind === 'weakened'
}

function endLoop(loop: Loop, at: Instant, ending: LoopOutcome): Loop {
  return { ...loop, stage: { name: 'ended', at, ending } }
}

/** A resume forgives failures: the loop retries blocked tasks, and merges conflicts that somebody has resolved. */
function onResume(loop: Loop, { at, wokenAt, stoppedAt }: LoopSignalOf<'user.resume'>): Loop {
  const { audit: _, ...known } = loop
  const woken = {
    ...known,
    wokenAt,
    halt: null,
    lastStartAt: null,
    widthSince: at,
    tasks: loop.tasks
      .map(task => (isInProgress(task) ? withStop(task, { from: stoppedAt, to: at }) : task))
      .map(task => forgiveTask(task.addedBy === undefined ? task : { ...task, isAccepted: true }, loop, at)),
  }
  if (loop.stage.name !== 'ended') return woken
  const isUnplanned = loop.tasks.length === 0 && loop.spec.plan !== 'none'
  const stage = isUnplanned ? ({ name: 'beginning' } as const) : ({ name: 'working' } as const)
  return { ...woken, stage, waived: loop.iterations, plan: isUnplanned ? [] : loop.plan }
}

function forgiveTask(task: LoopTask, { branch }: Loop, at: Instant): LoopTask {
  if (task.stand.name !== 'blocked') return task
  const role = task.resolution === null ? 'task' : 'resolve'
  const isClash = task.stand.flaw.kind === 'clash'
  // Otherwise the weaker check would become the baseline.
  const isWeakened = task.stand.flaw.kind === 'weakened'
  const stand = isClash ? ({ name: 'merging', role, isByHand: true } as const) : ({ name: 'open' } as const)
  return {
    ...(isClash ? withStop(task, { from: task.stand.at, to: at }) : task),
    stand,
    pardoned: task.tries.length,
    reopened: 0,
    place: branch === null && !isWeakened ? null : task.place,
  }
}
