import path from 'node:path'
import type { Loop, LoopTask } from '../../core/loop/loop.ts'
import { rawPath } from '../../lib/text/raw-path.ts'
import { Trouble, errorMessage, invariant } from '../../lib/errors.ts'
import type { LandedList, Worktree } from '../../ports/worktrees.ts'
import type { EffectRun, LoopContext } from '../context.ts'

/** Merges the integration branch into the user's checkout. The user decides about anything that blocks it. */
export async function landBranch({ context, loop, report }: EffectRun): Promise<void> {
  const { branch, tip } = loop()
  const { worktrees, session, paths } = context
  invariant(branch !== null && tip !== null, 'there is nothing to land')
  const busy = context.serialLoops.find()
  if (busy !== null) {
    const reason = `${busy} works in this checkout; once it has ended: oneshot ralph land ${session.name}`
    return report({ type: 'loop.unlanded', reason })
  }
  try {
    const { commit } = await worktrees.land(session.cwd, tip, `Merge ${branch}`, landedList(context, loop()))
    await worktrees.remove(session.cwd, paths.integration, 'HEAD')
    report({ type: 'loop.landed', commit })
  } catch (cause) {
    if (!(cause instanceof Trouble)) throw cause
    report({ type: 'loop.unlanded', reason: errorMessage(cause) })
  }
}

/** Returns the list if it is part of the landing: the loop ticks its boxes in the user's version if both changed. */
export function landedList(
  { taskSource: source, paths: layout }: LoopContext,
  { marking, tasks }: Loop,
): { list?: LandedList } {
  if (marking !== 'merge' || source.file === null) return {}
  const done = tasks.filter(({ stand, tries }) => stand.name === 'done' && tries.length > 0)
  const marks = done.map(({ item }) => ({ key: item.key, isDone: true, reason: 'landed' }))
  const tick = (top: string): Promise<void> =>
    source.mark(path.join(top, layout.subfolder), marks, AbortSignal.timeout(TIMEOUT))
  return { list: { file: rawPath(Buffer.from(layout.fromTop(source.file))), tick } }
}

/** Milliseconds; the list is a file, and a write takes no time. */
const TIMEOUT = 60_000

/** Removes the worktrees of a merged task, unless they contain something that exists nowhere else. */
export async function removeWorktrees(task: LoopTask, run: EffectRun): Promise<void> {
  const { context, loop, report } = run
  const { session, worktrees, paths } = context
  const { branch, tip } = loop()
  if (branch !== null && tip !== null) await worktrees.repair(session.cwd, paths.integration, tip)
  const taskWorktrees = [task.place, task.resolution].flatMap((place): Worktree[] =>
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
  report({ type: 'task.cleared', task: task.item.key, note: notes.length === 0 ? null : notes.join('; ') })
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
