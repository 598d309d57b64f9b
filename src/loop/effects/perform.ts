import type { LoopEffect } from '../../core/loop/effects.ts'
import { finalAudit, runFirstCheck, verifyTask } from './collect-evidence.ts'
import { readPlan, startLoop } from './start.ts'
import { landBranch } from './land.ts'
import { removeWorktrees } from './remove-worktrees.ts'
import { markTasks } from './task-list.ts'
import { mergeTask } from './merge.ts'
import { prepareWorktree } from './prepare-worktree.ts'
import { runWorker } from './run-worker.ts'
import type { EffectRun } from '../context.ts'

/** Performs an effect. Each effect can run again from its start, and detects which steps are done. */
export function performEffect(effect: LoopEffect, run: EffectRun): Promise<void> {
  switch (effect.type) {
    case 'begin':
      return startLoop(run)
    case 'first-check':
      return runFirstCheck(run)
    case 'see-plan':
      return readPlan(run)
    case 'prepare':
      return prepareWorktree(effect, run)
    case 'tend':
      return runWorker(effect, run)
    case 'judge':
      return verifyTask(effect, run)
    case 'merge':
      return mergeTask(effect, run)
    case 'mark':
      return markTasks(effect.marks, run)
    case 'clear':
      return removeWorktrees(effect.task, run)
    case 'land':
      return landBranch(run)
    case 'audit':
      return finalAudit(run)
  }
}

/** Reports the failure of an effect. */
export function reportFailure(effect: LoopEffect, { report }: EffectRun, reason: string): void {
  switch (effect.type) {
    case 'begin':
    case 'see-plan':
      report({ type: 'loop.impossible', reason })
      return
    case 'first-check':
      report({ type: 'check.tried', check: null, trouble: reason })
      return
    case 'mark':
      report({ type: 'list.marked', marks: effect.marks, trouble: reason })
      return
    case 'audit':
      report({ type: 'loop.audited', losses: [], notes: [reason] })
      return
    case 'clear':
      report({ type: 'task.cleared', task: effect.task.item.key, note: reason })
      return
    case 'land':
      report({ type: 'loop.unlanded', reason })
      return
    default:
      report({
        type: 'deed.failed',
        task: effect.task?.item.key ?? null,
        iteration: effect.task?.tries.at(-1)?.iteration ?? 0,
        reason,
      })
  }
}
