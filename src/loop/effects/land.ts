import path from 'node:path'
import type { Loop } from '../../core/loop/loop-state.ts'
import { rawPath } from '../../lib/text/raw-path.ts'
import { Trouble, errorMessage, invariant } from '../../lib/errors.ts'
import type { LandedList } from '../../ports/worktrees.ts'
import type { EffectRun, LoopContext } from '../context.ts'
import { removeKeptWorktrees } from './remove-worktrees.ts'

/** Merges the integration branch into the user's checkout. The user decides about anything that blocks it. */
export async function landBranch({ context, loop, report }: EffectRun): Promise<void> {
  const { branch, tip } = loop()
  const { worktrees, session, paths } = context
  invariant(branch !== null && tip !== null, 'there is nothing to land')
  const busy = context.serialLoops.find()
  if (busy !== null) {
    const reason = `${busy} works in this checkout; once it has ended: oneshot ralph land ${session.name}`
    return report({ type: 'landing.failed', reason })
  }
  try {
    const { commit } = await worktrees.land(session.cwd, tip, `Merge ${branch}`, landedList(context, loop()))
    const removedWorktrees = await removeKeptWorktrees(context, loop())
    const into = (await worktrees.inspect(session.cwd))?.branch ?? null
    // Without a branch, the next checkout would leave the commits behind.
    if (into !== null) await worktrees.remove(session.cwd, paths.integration, 'HEAD')
    report({ type: 'loop.landed', commit, removedWorktrees })
  } catch (cause) {
    if (!(cause instanceof Trouble)) throw cause
    report({ type: 'landing.failed', reason: errorMessage(cause) })
  }
}

/** Returns the list if it is part of the landing: the loop ticks its boxes in the user's version if both changed. */
export function landedList(
  { taskSource: source, paths: layout }: LoopContext,
  { tickAt, tasks }: Loop,
): { list?: LandedList } {
  if (tickAt !== 'merge' || source.file === null) return {}
  const done = tasks.filter(({ state, tries }) => state.name === 'done' && tries.length > 0)
  const marks = done.map(({ item }) => ({ key: item.key, isDone: true, reason: 'landed' }))
  const tick = (top: string): Promise<void> =>
    source.mark(path.join(top, layout.subfolder), marks, AbortSignal.timeout(TIMEOUT))
  return { list: { file: rawPath(Buffer.from(layout.fromTop(source.file))), tick } }
}

/** Milliseconds; the list is a file, and a write takes no time. */
const TIMEOUT = 60_000
