import { requestMark, newIteration, findTask, addNotes, updateTask } from '../loop-updates.ts'
import { type Loop, type LoopTask, taskDoubt, taskProof } from '../loop-state.ts'
import type { LoopSignalOf } from '../signals.ts'

export function onMerged(loop: Loop, { at, task: key, tip, isTicked, notes = [] }: LoopSignalOf<'task.merged'>): Loop {
  const task = findTask(loop, key)
  if (task?.state.name !== 'merging') return loop
  const how = `${task.tries.at(-1)?.verdict ?? 'proven'}, merged`
  const [proof, doubt] = [taskProof(task), taskDoubt(task)]
  const done = updateTask({ ...loop, tip, landedAt: null }, key, one => ({
    ...one,
    conflicts: [],
    state: { name: 'done', at, how, ...(proof !== null && { proof }), ...(doubt !== null && { doubt }) },
  }))
  return addNotes(isTicked ? done : requestMark(done, key, true, how), notes)
}

/**
 * Gives both sides of a conflict to an agent, once, and again if other merges came in between. The verifier checks the
 * result like any other work.
 */
export function onConflict(loop: Loop, { at, task: key, files, ...news }: LoopSignalOf<'task.conflicted'>): Loop {
  const { reason, detail, commit } = news
  const task = findTask(loop, key)
  if (task?.state.name !== 'merging') return loop
  if (task.state.role === 'resolve' && !isOvertaken(task, loop)) {
    const failure = {
      kind: 'conflict',
      reason: `${reason}; it is on ${task.checkout?.branch} and ${task.resolution?.branch}`,
      detail,
    } as const
    return updateTask(loop, key, one => ({ ...one, conflicts: files, state: { name: 'blocked', at, failure } }))
  }
  const iteration = loop.iterations + 1
  const failure = { kind: 'conflict', reason, detail } as const
  const resolving = updateTask(loop, key, one => ({
    ...one,
    conflicts: files,
    ...(task.state.name === 'merging' && task.state.role === 'task' && { verifiedCommit: commit }),
    state: { name: 'opening', role: 'resolve' },
    tries: [
      ...one.tries.map((last, n) => (n === one.tries.length - 1 ? { ...last, failure } : last)),
      newIteration(iteration, 'resolve', at),
    ],
  }))
  return { ...resolving, iterations: iteration }
}

/** Returns true if other merges came after the resolution started. */
function isOvertaken({ tries, forgivenTries, resolution }: LoopTask, { tip, spec }: Loop): boolean {
  const resolved = tries.slice(forgivenTries).filter(({ role }) => role === 'resolve').length
  return resolution?.since.head !== tip && resolved > 0 && resolved < spec.retries
}

export function onWorktreeRemoved(loop: Loop, { task: key, notes }: LoopSignalOf<'worktree.removed'>): Loop {
  return addNotes(
    updateTask(loop, key, one => ({ ...one, isWorktreeRemoved: true })),
    notes,
  )
}

/** Describes a worktree of a finished task that the loop does not remove. */
export function describeKeptWorktree(folder: string, reason: string): string {
  return `${folder} is kept: ${reason}`
}

/** Drops the notes about worktrees that the loop has removed since. */
export function withoutKeptWorktrees(loop: Loop, folders: readonly string[]): Loop {
  if (folders.length === 0) return loop
  const starts = folders.map(folder => describeKeptWorktree(folder, ''))
  return { ...loop, notes: loop.notes.filter(note => !starts.some(start => note.startsWith(start))) }
}
