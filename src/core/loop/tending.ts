import type { Instant } from '../../lib/time.ts'
import { taskOf, withLast, withNotes, withTask, withTry } from './change.ts'
import { isHopeless } from './failing.ts'
import type { Flaw, Loop, LoopTask } from './loop.ts'
import { reopen } from './losses.ts'
import type { LoopSignalOf } from './signals.ts'
import { narrowed } from './width.ts'
import { judgeWorkerEnd } from './worker-end.ts'

/** Whether this is what the task is at: signals of an iteration before are late. */
export function isCurrent(task: LoopTask | undefined, iteration: number): task is LoopTask {
  return task?.tries.at(-1)?.iteration === iteration
}

export function onPlace(loop: Loop, { at, task: key, place, clash, ...news }: LoopSignalOf<'place.ready'>): Loop {
  const task = taskOf(loop, key)
  if (task?.stand.name !== 'opening') return loop
  const { role } = task.stand
  const where = role === 'resolve' ? { resolution: place, clash } : { place, isCleared: place.branch === null }
  const ready = withTask(loop, key, one => ({ ...one, ...where, stand: { name: 'working', role, rest: null } }))
  return withNotes(reopen(ready, news.losses, { at, by: null }), news.notes ?? [])
}

export function onBegun(loop: Loop, { task: key, iteration, session }: LoopSignalOf<'worker.begun'>): Loop {
  if (key === null) return { ...loop, plan: withLast(loop.plan, { session }) }
  const task = taskOf(loop, key)
  return isCurrent(task, iteration) ? withTask(loop, key, one => withTry(one, { session })) : loop
}

export function onRest(loop: Loop, { at, task: key, iteration, rest }: LoopSignalOf<'worker.rests'>): Loop {
  const task = key === null ? undefined : taskOf(loop, key)
  if (key === null || !isCurrent(task, iteration) || task.stand.name !== 'working') return loop
  const { role, rest: before } = task.stand
  if ((rest?.reason ?? null) === before) return loop
  const tended = withTask(loop, key, one => ({ ...one, stand: { name: 'working', role, rest: rest?.reason ?? null } }))
  return rest?.isLimit && before === null ? narrowed(tended, at) : tended
}

export function onEnded(loop: Loop, { at, task: key, iteration, end }: LoopSignalOf<'worker.ended'>): Loop {
  const { spent } = end
  if (key === null) return { ...loop, plan: withLast(loop.plan, { until: at, spent, verdict: end.reason }) }
  const task = taskOf(loop, key)
  if (!isCurrent(task, iteration) || task.stand.name !== 'working') return loop
  const { role } = task.stand
  const told = withTask(loop, key, one => withTry(one, { until: at, spent }))
  const judgement = judgeWorkerEnd(end)
  if (judgement.kind === 'halt') {
    const back = withTask(told, key, one => ({ ...withTry(one, { verdict: end.reason }), stand: { name: 'open' } }))
    return { ...back, halt: judgement.reason }
  }
  const { flaw } = judgement
  return withTask(told, key, one => ({ ...one, stand: { name: 'judging', role, said: end.said, flaw } }))
}

/** What the world refuses again and again is told, and the task set aside. */
export function onDeedFailed(loop: Loop, { at, task: key, iteration, reason }: LoopSignalOf<'deed.failed'>): Loop {
  if (key === null) return withNotes({ ...loop, halt: reason }, [reason])
  const task = taskOf(loop, key)
  if (!isCurrent(task, iteration)) return loop
  if (task.stand.name === 'merging') {
    const flaw = { kind: 'clash', reason, detail: '' } as const
    return withTask(loop, key, one => ({ ...one, stand: { name: 'blocked', at, flaw } }))
  }
  const tried = withTask(loop, key, one =>
    failed(one, { kind: 'failed', reason, detail: '' }, { at, retries: loop.spec.retries }),
  )
  // Nothing can be seen of the user's checkout any more, whichever task is next.
  const isBlind = loop.branch === null && task.stand.name === 'judging' && taskOf(tried, key)?.stand.name === 'blocked'
  return isBlind ? { ...tried, halt: `${reason}, since the agent of task ${task.item.label} worked here` } : tried
}

/** A task whose iteration came to nothing: it is tried again, or set aside. */
export function failed(task: LoopTask, flaw: Flaw, { at, retries }: { at: Instant; retries: number }): LoopTask {
  const tried = withTry(task, { flaw, verdict: flaw.reason, until: task.tries.at(-1)?.until ?? at })
  if (!isHopeless(tried, retries)) return { ...tried, stand: { name: 'open' } }
  const advice = flaw.kind === 'idle' ? '; if the task is already done, tick its box and resume the loop' : ''
  return { ...tried, stand: { name: 'blocked', at, flaw: { ...flaw, reason: `${flaw.reason}${advice}` } } }
}
