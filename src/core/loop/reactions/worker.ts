import type { Instant } from '../../../lib/time.ts'
import { findTask, updateLast, addNotes, updateTask, updateLastIteration } from '../loop-updates.ts'
import { isGivenUp } from '../task-retries.ts'
import type { TaskFailure, Loop, LoopTask } from '../loop-state.ts'
import { reopenTasks } from '../lost-work/lost-work.ts'
import type { LoopSignalOf } from '../signals.ts'
import { reduceConcurrency } from '../schedule.ts'
import { classifyWorkerExit } from '../verify.ts'

/** Returns true if the signal belongs to the task's current iteration: signals of an earlier iteration are late. */
export function isCurrentIteration(task: LoopTask | undefined, iteration: number): task is LoopTask {
  return task?.tries.at(-1)?.iteration === iteration
}

export function onCheckoutReady(
  loop: Loop,
  { at, task: key, checkout, conflicts, ...news }: LoopSignalOf<'checkout.ready'>,
): Loop {
  const task = findTask(loop, key)
  if (task?.state.name !== 'opening') return loop
  const { role } = task.state
  const where =
    role === 'resolve' ? { resolution: checkout, conflicts } : { checkout, isWorktreeRemoved: checkout.branch === null }
  const ready = updateTask(loop, key, one => ({ ...one, ...where, state: { name: 'working', role, rest: null } }))
  return addNotes(reopenTasks(ready, news.losses, { at, by: null }), news.notes ?? [])
}

export function onWorkerStarted(loop: Loop, { task: key, iteration, session }: LoopSignalOf<'worker.started'>): Loop {
  if (key === null) return { ...loop, plan: updateLast(loop.plan, { session }) }
  const task = findTask(loop, key)
  return isCurrentIteration(task, iteration)
    ? updateTask(loop, key, one => updateLastIteration(one, { session }))
    : loop
}

export function onWorkerResting(loop: Loop, { at, task: key, iteration, rest }: LoopSignalOf<'worker.rests'>): Loop {
  const task = key === null ? undefined : findTask(loop, key)
  if (key === null || !isCurrentIteration(task, iteration) || task.state.name !== 'working') return loop
  const { role, rest: before } = task.state
  if ((rest?.reason ?? null) === before) return loop
  const tended = updateTask(loop, key, one => ({
    ...one,
    state: { name: 'working', role, rest: rest?.reason ?? null },
  }))
  return rest?.isLimit && before === null ? reduceConcurrency(tended, at) : tended
}

export function onWorkerExit(loop: Loop, { at, task: key, iteration, end }: LoopSignalOf<'worker.ended'>): Loop {
  const { spent } = end
  if (key === null) return { ...loop, plan: updateLast(loop.plan, { until: at, spent, verdict: end.reason }) }
  const task = findTask(loop, key)
  if (!isCurrentIteration(task, iteration) || task.state.name !== 'working') return loop
  const { role } = task.state
  const recorded = updateTask(loop, key, one => updateLastIteration(one, { until: at, spent }))
  const judgement = classifyWorkerExit(end)
  if (judgement.kind === 'halt') {
    const back = updateTask(recorded, key, one => ({
      ...updateLastIteration(one, { verdict: end.reason }),
      state: { name: 'open' },
    }))
    return { ...back, halt: judgement.reason }
  }
  const { failure } = judgement
  return updateTask(recorded, key, one => ({
    ...one,
    state: { name: 'verifying', role, finalOutput: end.finalOutput, failure },
  }))
}

/** Reports an effect that failed again and again, and blocks the task. */
export function onEffectFailed(loop: Loop, { at, task: key, iteration, reason }: LoopSignalOf<'effect.failed'>): Loop {
  if (key === null) return addNotes({ ...loop, halt: reason }, [reason])
  const task = findTask(loop, key)
  if (!isCurrentIteration(task, iteration)) return loop
  if (task.state.name === 'merging') {
    const failure = { kind: 'conflict', reason, detail: '' } as const
    return updateTask(loop, key, one => ({ ...one, state: { name: 'blocked', at, failure } }))
  }
  const tried = updateTask(loop, key, one =>
    failIteration(one, { kind: 'failed', reason, detail: '' }, { at, retries: loop.spec.retries }),
  )
  // git cannot show the user's checkout any more, whichever task is next.
  const isBlind =
    loop.branch === null && task.state.name === 'verifying' && findTask(tried, key)?.state.name === 'blocked'
  return isBlind ? { ...tried, halt: `${reason}, since the agent of task ${task.item.label} worked here` } : tried
}

/** Ends a failed iteration: the loop retries the task, or blocks it. */
export function failIteration(
  task: LoopTask,
  failure: TaskFailure,
  { at, retries }: { at: Instant; retries: number },
): LoopTask {
  const tried = updateLastIteration(task, {
    failure,
    verdict: failure.reason,
    until: task.tries.at(-1)?.until ?? at,
  })
  if (!isGivenUp(tried, retries)) return { ...tried, state: { name: 'open' } }
  const advice = failure.kind === 'idle' ? '; if the task is already done, tick its box and resume the loop' : ''
  return { ...tried, state: { name: 'blocked', at, failure: { ...failure, reason: `${failure.reason}${advice}` } } }
}
