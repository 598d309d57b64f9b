import { syncList } from '../list/sync-tasks.ts'
import { newIteration, updateLast, addNotes } from '../loop-updates.ts'
import type { Loop } from '../loop-state.ts'
import type { LoopSignalOf } from '../signals.ts'

export function onPlanMissing(loop: Loop, { at }: LoopSignalOf<'loop.unplanned'>): Loop {
  if (loop.stage.name !== 'beginning') return loop
  return startPlanning(loop, at)
}

function startPlanning(loop: Loop, at: number): Loop {
  const iteration = loop.iterations + 1
  const plan = [...loop.plan, newIteration(iteration, 'plan', at)]
  return { ...loop, plan, iterations: iteration, stage: { name: 'planning', tries: plan.length } }
}

/** A plan needs at least one open box. */
export function onPlanRead(loop: Loop, { at, list, base }: LoopSignalOf<'plan.read'>): Loop {
  if (loop.stage.name !== 'planning') return loop
  const open = list.items.filter(({ isDone }) => !isDone).length
  if (open === 0) return onEmptyPlan(loop, at, list.objections)
  const { branch, tip, tickAt, notes } = base
  const adopted = addNotes(syncList({ ...loop, branch, tip, tickAt }, list, at), notes)
  if (loop.spec.plan === 'on') return { ...adopted, stage: { name: 'working' } }
  const reason = `${open} ${open === 1 ? 'task is' : 'tasks are'} planned in ${loop.spec.list}`
  return { ...adopted, stage: { name: 'ended', at, ending: { kind: 'planned', reason } } }
}

function onEmptyPlan(loop: Loop, at: number, objections: readonly string[]): Loop {
  const said = loop.plan.at(-1)?.verdict
  const why = objections[0] ?? `${loop.spec.list} has no open box${said ? `; the agent: ${said}` : ''}`
  const failed = { ...loop, plan: updateLast(loop.plan, { failure: { kind: 'idle', reason: why, detail: '' } }) }
  if (loop.plan.length < loop.spec.retries) return startPlanning(failed, at)
  const reason = `there is no plan after ${loop.plan.length} tries: ${why}`
  return { ...failed, stage: { name: 'ended', at, ending: { kind: 'unfinished', reason } } }
}
