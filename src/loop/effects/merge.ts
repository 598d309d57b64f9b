import type { LoopEffect } from '../../core/loop/derive-effects.ts'
import { isFailingSinceStart } from '../../core/loop/baseline-check.ts'
import { type LoopTask, taskDoubt, taskProof, type WorkerRole } from '../../core/loop/loop-state.ts'
import { formatFew } from '../../core/loop/lost-work/lost-work.ts'
import { invariant, Trouble } from '../../lib/errors.ts'
import type { Worktree, MergeResult, Worktrees } from '../../ports/worktrees.ts'
import type { EffectRun, LoopContext } from '../context.ts'
import { runCheck } from './verify-task.ts'

type MergeEffect = Extract<LoopEffect, { type: 'merge' }>

/**
 * Merges a verified task into the integration branch, and runs the check there as well. If the check fails, it resets
 * the branch: the branch contains only verified commits.
 */
export async function mergeTask(effect: MergeEffect, run: EffectRun): Promise<void> {
  for (let triesLeft = MAX_TRIES; ; triesLeft--) {
    try {
      return await mergeOnce(effect, run)
    } catch (cause) {
      const wasRepaired = cause instanceof Trouble && triesLeft > 0 && (await repairWorktrees(effect, run))
      if (!wasRepaired) throw cause
    }
  }
}

/** Agents of other tasks may remove the branch or the worktree during the merge: then the merge starts again. */
const MAX_TRIES = 2

/** Recreates the branches and worktrees that somebody removed; returns false if nothing was missing. */
async function repairWorktrees({ task, role }: MergeEffect, { context, loop }: EffectRun): Promise<boolean> {
  const { worktrees, paths, session } = context
  const { tip } = loop()
  const place = role === 'resolve' ? task.resolution : task.checkout
  const needed = [
    { worktree: paths.integration, commit: tip },
    {
      worktree: { path: paths.topOf(place?.cwd ?? ''), branch: place?.branch ?? '' },
      commit: place?.since.head ?? null,
    },
  ]
  let isRepaired = false
  for (const { worktree, commit } of needed) {
    if (commit === null || worktree.branch === '') continue
    if ((await worktrees.repair(session.cwd, worktree, commit)) !== null) isRepaired = true
  }
  return isRepaired
}

async function mergeOnce(effect: MergeEffect, run: EffectRun): Promise<void> {
  const { context, loop, report } = run
  const { worktrees, paths } = context
  const { task } = effect
  const { key } = task.item
  const { tip } = loop()
  invariant(tip !== null, 'a loop with worktrees has no tip')
  const { session } = context
  if (await repairWorktrees(effect, run)) cleanTips.delete(worktrees)
  if (cleanTips.get(worktrees) !== tip) await worktrees.reset(paths.integration, tip)
  cleanTips.delete(worktrees)
  const role = effect.role === 'resolve' && !isResolved(task, context) ? 'task' : effect.role
  const { worktree, judged } = await commitVerified(task, role, run, tip)
  const isVerifiedTree = role === 'task' && (await isAsVerified(task, worktree, tip, context))
  const merged = await mergeWithTask(task, { role, judged, tip }, context)
  const conflict = { type: 'task.conflicted', task: key, commit: judged, files: [], detail: '' } as const
  if (merged.kind === 'conflict') {
    await worktrees.reset(paths.integration, tip)
    const reason = `it conflicts with work already merged in ${merged.files.join(', ')}`
    return report({ ...conflict, files: merged.files, reason })
  }
  const [changes] = await worktrees.diffTrees(session.cwd, [[tip, merged.commit]])
  const { losses, shortenedFiles } = await context.audit.auditChanges(loop(), {
    changes: changes ?? [],
    pair: [tip, merged.commit],
    worktree: { cwd: paths.folderIn(paths.integration), branch: paths.integration.branch },
  })
  if (losses.length > 0) {
    await worktrees.reset(paths.integration, tip)
    const reason = `merging it would remove finished work: ${losses.map(({ what }) => what).join('; ')}`
    return report({ ...conflict, reason })
  }
  const at = { cwd: paths.folderIn(paths.integration) }
  const check = isVerifiedTree ? null : await runCheck(at, `merge-${task.number}`, run)
  if (run.ending.aborted) return
  if (check !== null && !check.ok && !isFailingSinceStart(loop(), check)) {
    await worktrees.reset(paths.integration, tip)
    const reason = `the check fails together with the work already merged: ${check.how}`
    return report({ ...conflict, reason, detail: check.tail })
  }
  const { commit, isTicked } = await tickTask(task, merged.commit, run)
  if (check === null) cleanTips.set(worktrees, commit)
  await worktrees.backUpCommit(session.cwd, `${session.id}/tip`, commit)
  const notes = [
    ...shortenedFiles.map(what => `since task ${task.item.label} was merged, ${what}`),
    ...(changes?.length === 0 && !isByHand(task) ? [describeNothingNew(task)] : []),
  ]
  report({ type: 'task.merged', task: key, tip: commit, isTicked, notes })
}

/** Two agents that work at the same time may take each other's files: nobody can say which of them wrote these. */
function describeNothingNew({ item, evidence }: LoopTask): string {
  const files = formatFew(evidence?.files ?? [])
  return `task ${item.label} changed nothing that was not merged before: ${files} came with another task as well`
}

/**
 * The tips at which the integration worktree is certainly clean. Checks leave files behind, and a kill may have ended
 * an earlier process in the middle of an unverified merge.
 */
const cleanTips = new WeakMap<Worktrees, string>()

/** Returns true if no conflict marker remains in the conflicting files. */
function isResolved({ conflicts, resolution }: LoopTask, { paths, worktrees }: LoopContext): boolean {
  return resolution !== null && worktrees.findConflictMarkers(paths.topOf(resolution.cwd), conflicts).length === 0
}

/** Returns true if the merge result equals the verified tree: it needs no second check. */
async function isAsVerified(
  { checkout, evidence, state }: LoopTask,
  worktree: Worktree,
  tip: string,
  { spec, worktrees }: LoopContext,
): Promise<boolean> {
  if (checkout?.since.head !== tip || isByHand({ state })) return false
  if (spec.check === null && spec.detectCheckEachTime !== true) return true
  return (await worktrees.snapshot(worktree.path)).tree === evidence?.now.tree
}

/** An agent that resolves a conflict may drop one side: the result must contain the task's own work. */
async function mergeWithTask(
  task: LoopTask,
  { role, judged, tip }: { role: WorkerRole; judged: string; tip: string },
  context: LoopContext,
): Promise<Exclude<MergeResult, { kind: 'moved' }>> {
  const merged = await mergeOnto(task, judged, tip, context)
  if (merged.kind === 'conflict' || role === 'task') return merged
  return mergeOnto(task, task.verifiedCommit ?? context.paths.taskWorktree(task).branch, merged.commit, context)
}

/** An agent may have committed to the loop's branch: the reset removes that commit and backs it up. */
async function mergeOnto(
  task: LoopTask,
  commit: string,
  tip: string,
  { worktrees, paths }: LoopContext,
): Promise<Exclude<MergeResult, { kind: 'moved' }>> {
  for (let triesLeft = MAX_TRIES; ; triesLeft--) {
    const merged = await worktrees.merge(paths.integration, commit, commitMessage(task), tip)
    if (merged.kind !== 'moved') return merged
    if (triesLeft === 0)
      throw new Trouble('merging', `another process keeps moving ${paths.integration.branch}`, {
        mayHelpToRetry: true,
      })
    await worktrees.reset(paths.integration, tip)
  }
}

function isByHand({ state }: Pick<LoopTask, 'state'>): boolean {
  return state.name === 'merging' && state.isByHand === true
}

/** Commits the verified state without the list, which belongs to the loop. Leaves out later changes. */
async function commitVerified(
  task: LoopTask,
  role: WorkerRole,
  { context }: EffectRun,
  tip: string,
): Promise<{ worktree: Worktree; judged: string }> {
  const { worktrees, paths } = context
  const place = role === 'resolve' ? task.resolution : task.checkout
  invariant(place !== null && place.branch !== null, `task ${task.item.label} has no branch`)
  const worktree =
    role === 'resolve' ? { path: paths.topOf(place.cwd), branch: place.branch } : paths.taskWorktree(task)
  const excludedPaths = context.excludedPaths.map(file => paths.fromTop(file))
  const base = role === 'resolve' ? tip : (place.since.head ?? tip)
  const isJudged = !isByHand(task) && task.tries.at(-1)?.role === role
  if (!isJudged && !isByHand(task) && role === 'task' && task.verifiedCommit !== undefined)
    return { worktree, judged: task.verifiedCommit }
  const seen = isJudged ? task.evidence?.now : undefined
  return {
    worktree,
    judged: await worktrees.commitAll(worktree, commitMessage(task), excludedPaths, base, seen),
  }
}

function commitMessage(task: LoopTask): string {
  const { title, label } = task.item
  const isTested = taskProof(task) === 'checked' || taskDoubt(task) !== null
  return `${title}\n\nTask ${label}: ${isTested ? 'its check passed' : 'not tested'}.`
}

/**
 * Ticks the task's box if the list is part of the merge, and returns the new tip. A box that the user added later is
 * not in that list.
 */
async function tickTask(
  { item }: LoopTask,
  commit: string,
  { context, loop, ending }: EffectRun,
): Promise<{ commit: string; isTicked: boolean }> {
  const { worktrees, paths, taskSource } = context
  if (loop().tickAt !== 'merge' || taskSource.file === null) return { commit, isTicked: false }
  const cwd = paths.folderIn(paths.integration)
  await taskSource.mark(cwd, [{ key: item.key, isDone: true, reason: 'merged' }], ending)
  const message = `Tick task ${item.label}: ${item.title}`
  const ticked = await worktrees.commitPaths(paths.integration, [paths.fromTop(taskSource.file)], message, commit)
  const { items } = await taskSource.read(cwd, ending)
  return { commit: ticked, isTicked: items.some(({ key, isDone }) => key === item.key && isDone) }
}
