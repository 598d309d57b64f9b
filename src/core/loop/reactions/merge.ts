import { requestMark, newIteration, findTask, addNotes, updateTask } from '../update.ts'
import { type Loop, type LoopTask, taskProof } from '../loop.ts'
import type { LoopSignalOf } from '../signals.ts'

export function onMerged(loop: Loop, { at, task: key, tip, isTicked, notes = [] }: LoopSignalOf<'task.merged'>): Loop {
  const task = findTask(loop, key)
  if (task?.stand.name !== 'merging') return loop
  const how = `${task.tries.at(-1)?.verdict ?? 'proven'}, merged`
  const proof = taskProof(task)
  const done = updateTask({ ...loop, tip, landedAt: null }, key, one => ({
    ...one,
    clash: [],
    stand: { name: 'done', at, how, ...(proof !== null && { proof }) },
  }))
  return addNotes(isTicked ? done : requestMark(done, key, true, how), notes)
}

/**
 * Gives both sides of a conflict to an agent, once, and again if other merges came in between. The verifier checks the
 * result like any other work.
 */
export function onConflict(loop: Loop, { at, task: key, files, ...news }: LoopSignalOf<'task.clashed'>): Loop {
  const { reason, detail, commit } = news
  const task = findTask(loop, key)
  if (task?.stand.name !== 'merging') return loop
  if (task.stand.role === 'resolve' && !isOvertaken(task, loop)) {
    const flaw = {
      kind: 'clash',
      reason: `${reason}; it is on ${task.place?.branch} and ${task.resolution?.branch}`,
      detail,
    } as const
    return updateTask(loop, key, one => ({ ...one, clash: files, stand: { name: 'blocked', at, flaw } }))
  }
  const iteration = loop.iterations + 1
  const flaw = { kind: 'clash', reason, detail } as const
  const resolving = updateTask(loop, key, one => ({
    ...one,
    clash: files,
    ...(task.stand.name === 'merging' && task.stand.role === 'task' && { sealed: commit }),
    stand: { name: 'opening', role: 'resolve' },
    tries: [
      ...one.tries.map((last, n) => (n === one.tries.length - 1 ? { ...last, flaw } : last)),
      newIteration(iteration, 'resolve', at),
    ],
  }))
  return { ...resolving, iterations: iteration }
}

/** Returns true if other merges came after the resolution started. */
function isOvertaken({ tries, pardoned, resolution }: LoopTask, { tip, spec }: Loop): boolean {
  const resolved = tries.slice(pardoned).filter(({ role }) => role === 'resolve').length
  return resolution?.since.head !== tip && resolved > 0 && resolved < spec.retries
}

export function onWorktreeRemoved(loop: Loop, { task: key, note }: LoopSignalOf<'task.cleared'>): Loop {
  const cleared = updateTask(loop, key, one => ({ ...one, isCleared: true }))
  return note === null ? cleared : addNotes(cleared, [note])
}
