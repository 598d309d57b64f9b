import type { LoopEffect } from '../../core/loop/derive-effects.ts'
import { finalAudit, runFirstCheck, verifyTask } from './verify-task.ts'
import { readPlan, startLoop } from './load-list-and-checkout.ts'
import { landBranch } from './land.ts'
import { removeWorktrees } from './remove-worktrees.ts'
import { markTasks } from './task-list.ts'
import { mergeTask } from './merge.ts'
import { prepareWorktree } from './prepare-worktree.ts'
import { runWorker } from './run-worker.ts'
import type { EffectRun } from '../context.ts'
import { describeMissingFolder } from '../audit/return-to-branch.ts'

/** Performs an effect. Each effect can run again from its start, and detects which steps are done. */
export function performEffect(effect: LoopEffect, run: EffectRun): Promise<void> {
  switch (effect.type) {
    case 'load':
      return startLoop(run)
    case 'baseline-check':
      return runFirstCheck(run)
    case 'read-plan':
      return readPlan(run)
    case 'prepare':
      return prepareWorktree(effect, run)
    case 'run-worker':
      return runWorker(effect, run)
    case 'verify':
      return verifyTask(effect, run)
    case 'merge':
      return mergeTask(effect, run)
    case 'write-marks':
      return markTasks(effect.marks, run)
    case 'remove-worktree':
      return removeWorktrees(effect.task, run)
    case 'land':
      return landBranch(run)
    case 'audit':
      return finalAudit(run)
  }
}

/** Reports the failure of an effect. */
export function reportFailure(effect: LoopEffect, { report, context }: EffectRun, reason: string): void {
  switch (effect.type) {
    case 'load':
    case 'read-plan':
      report({ type: 'loop.impossible', reason })
      return
    case 'baseline-check':
      report({ type: 'baseline.checked', check: null, trouble: reason })
      return
    case 'write-marks':
      report({ type: 'list.marked', marks: effect.marks, trouble: reason })
      return
    case 'audit':
      report({ type: 'loop.audited', losses: [], notes: [reason] })
      return
    case 'remove-worktree':
      report({ type: 'worktree.removed', task: effect.task.item.key, notes: [reason] })
      return
    case 'land':
      report({ type: 'landing.failed', reason })
      return
    default:
      // No other task can succeed either.
      if (!context.worktrees.hasFolder(context.session.cwd)) {
        report({ type: 'loop.impossible', reason: describeMissingFolder(context.session) })
        return
      }
      report({
        type: 'effect.failed',
        task: effect.task?.item.key ?? null,
        iteration: effect.task?.tries.at(-1)?.iteration ?? 0,
        reason,
      })
  }
}
