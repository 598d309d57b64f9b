import path from 'node:path'
import type { LoopEffect } from '../../core/loop/derive-effects.ts'
import type { LoopTask } from '../../core/loop/loop-state.ts'
import { invariant, Trouble } from '../../lib/errors.ts'
import type { Worktree } from '../../ports/worktrees.ts'
import type { EffectRun } from '../context.ts'

type PrepareEffect = Extract<LoopEffect, { type: 'prepare' }>

/** Prepares the folder that a task works in. A task with earlier work continues in the same folder. */
export async function prepareWorktree({ task, role }: PrepareEffect, run: EffectRun): Promise<void> {
  const { context, loop, report } = run
  const { spec, worktrees, paths, session } = context
  const { key } = task.item
  await context.refWatch.start()
  if (spec.parallel === null) {
    if (task.checkout !== null)
      return report({ type: 'checkout.ready', task: key, checkout: task.checkout, conflicts: [] })
    const since = await worktrees.snapshot(session.cwd)
    if (
      task.previousCompletion !== undefined &&
      (await context.audit.isRestored(task.previousCompletion, task.remainingWork ?? [], since.tree))
    )
      return report({ type: 'work.restored', task: key })
    const { losses, shortenedFiles } = await context.audit.auditSince(loop(), since.tree)
    const place = { cwd: session.cwd, branch: null, since }
    return report({ type: 'checkout.ready', task: key, checkout: place, conflicts: [], losses, notes: shortenedFiles })
  }
  const { tip } = loop()
  invariant(tip !== null, 'a loop with worktrees has no tip')
  const all = await worktrees.repair(session.cwd, paths.integration, tip)
  const notes =
    all === null
      ? []
      : [`the ${all} ${paths.integration[all === 'folder' ? 'path' : 'branch']} was removed; the loop makes a new one`]
  await context.checkoutWatch.start(loop())
  const worktree = role === 'resolve' ? paths.mergeWorktree(task) : paths.taskWorktree(task)
  const from = role === 'resolve' ? tip : (task.checkout?.since.head ?? tip)
  if (role === 'task' && task.checkout !== null) await worktrees.repair(session.cwd, worktree, from)
  await worktrees.open(session.cwd, worktree, from)
  // A loop that was killed here may have opened the worktree at an earlier tip. No agent has worked there yet.
  const isNew = role === 'task' && task.checkout === null
  const begin = isNew ? ((await worktrees.head(worktree.path)).commit ?? from) : from
  await runSetup(task, worktree, run)
  const conflicts =
    role === 'resolve'
      ? await worktrees.startMerge(worktree, task.verifiedCommit ?? paths.taskWorktree(task).branch)
      : []
  const place = {
    cwd: paths.folderIn(worktree),
    branch: worktree.branch,
    since: { head: begin, tree: `${begin}^{tree}` },
  }
  report({ type: 'checkout.ready', task: key, checkout: place, conflicts, notes })
}

async function runSetup(task: LoopTask, worktree: Worktree, { context, ending }: EffectRun): Promise<void> {
  const { spec, checks, env, paths } = context
  if (spec.setup === null) return
  const log = path.join(context.logFolder, `setup-${task.number}.log`)
  const check = { line: spec.setup, why: 'as asked' }
  const { ok, how, tail } = await checks.run(
    check,
    { cwd: paths.folderIn(worktree), env, log, limit: spec.checkLimit },
    ending,
  )
  if (!ok)
    throw new Trouble('setting up a worktree', [how, tail.trim().split('\n').at(-1)].join(': '), {
      mayHelpToRetry: false,
    })
}
