import type { Loop, LoopTask } from '../../core/loop/loop-state.ts'
import { describeKeptWorktree } from '../../core/loop/reactions/merge.ts'
import { Trouble } from '../../lib/errors.ts'
import type { Worktree } from '../../ports/worktrees.ts'
import type { EffectRun, LoopContext } from '../context.ts'

/** Removes the worktrees of a merged task, unless they contain something that exists nowhere else. */
export async function removeWorktrees(task: LoopTask, run: EffectRun): Promise<void> {
  const { context, loop, report } = run
  const { session, worktrees, paths } = context
  const { branch, tip } = loop()
  if (branch !== null && tip !== null) await worktrees.repair(session.cwd, paths.integration, tip)
  const notes: string[] = []
  for (const worktree of worktreesOf(task, context)) {
    const cleared = await worktrees.remove(session.cwd, worktree, branch ?? 'HEAD')
    if (cleared.kind === 'gone') continue
    if (cleared.isDirty === true && (await removeAfterReset(worktree, run)))
      notes.push(...(await describeLateFiles(task, worktree, context)))
    else notes.push(describeKeptWorktree(worktree.path, cleared.reason))
  }
  report({ type: 'worktree.removed', task: task.item.key, notes })
}

function worktreesOf({ checkout, resolution }: LoopTask, { paths }: LoopContext): Worktree[] {
  return [checkout, resolution].flatMap((place): Worktree[] =>
    place === null || place.branch === null ? [] : [{ path: paths.topOf(place.cwd), branch: place.branch }],
  )
}

/**
 * Removes worktrees of finished tasks that were kept when the loop merged them, if the landed branch has all of their
 * work by now. Returns the removed folders.
 */
export async function removeKeptWorktrees(context: LoopContext, loop: Loop): Promise<readonly string[]> {
  const { session, worktrees } = context
  const finished = loop.tasks.filter(({ state }) => state.name === 'done')
  const removed: string[] = []
  for (const worktree of finished.flatMap(task => worktreesOf(task, context))) {
    if (!worktrees.hasFolder(worktree.path)) continue
    const isGone = async (into: string): Promise<boolean> =>
      (await worktrees.remove(session.cwd, worktree, into)).kind === 'gone'
    try {
      if ((await isGone(loop.branch ?? 'HEAD')) || (await isGone('HEAD'))) removed.push(worktree.path)
    } catch (cause) {
      if (!(cause instanceof Trouble)) throw cause // The worktree stays, and the landing is complete without it.
    }
  }
  return removed
}

/**
 * Backs up files under a ref that appeared in the worktree after the verification, for example from the check, and then
 * removes the worktree.
 */
async function removeAfterReset(worktree: Worktree, { context, loop }: EffectRun): Promise<boolean> {
  const { worktrees, session } = context
  await worktrees.reset(worktree, `refs/heads/${worktree.branch}`)
  return (await worktrees.remove(session.cwd, worktree, loop().branch ?? 'HEAD')).kind === 'gone'
}

/** Returns nothing if the merge contains all of these files. */
async function describeLateFiles(
  { item }: LoopTask,
  { branch }: Worktree,
  { worktrees, session }: LoopContext,
): Promise<string[]> {
  const ref = `refs/oneshot-loop/kept/${branch.replaceAll('/', '+')}`
  const [kept] = await worktrees.diffTrees(session.cwd, [[ref, ref]])
  if (!kept) return []
  return [
    `the loop did not merge files that appeared in the worktree of task ${item.label} after its check: git show ${ref}`,
  ]
}
