import type { LoopTask } from '../../core/loop/loop-state.ts'
import type { Worktree } from '../../ports/worktrees.ts'
import type { EffectRun, LoopContext } from '../context.ts'

/** Removes the worktrees of a merged task, unless they contain something that exists nowhere else. */
export async function removeWorktrees(task: LoopTask, run: EffectRun): Promise<void> {
  const { context, loop, report } = run
  const { session, worktrees, paths } = context
  const { branch, tip } = loop()
  if (branch !== null && tip !== null) await worktrees.repair(session.cwd, paths.integration, tip)
  const taskWorktrees = [task.checkout, task.resolution].flatMap((place): Worktree[] =>
    place === null || place.branch === null ? [] : [{ path: paths.topOf(place.cwd), branch: place.branch }],
  )
  const notes: string[] = []
  for (const worktree of taskWorktrees) {
    const cleared = await worktrees.remove(session.cwd, worktree, branch ?? 'HEAD')
    if (cleared.kind === 'gone') continue
    if (cleared.isDirty === true && (await removeAfterReset(worktree, run)))
      notes.push(...(await describeLateFiles(task, worktree, context)))
    else notes.push(`${worktree.path} is kept: ${cleared.reason}`)
  }
  report({ type: 'worktree.removed', task: task.item.key, note: notes.length === 0 ? null : notes.join('; ') })
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
