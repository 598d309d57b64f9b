import { adopt } from './adopt.ts'
import { newTry, withLast, withNotes } from './change.ts'
import type { Loop } from './loop.ts'
import type { LoopSignalOf } from './signals.ts'

export function onUnplanned(loop: Loop, { at }: LoopSignalOf<'loop.unplanned'>): Loop {
  if (loop.stage.name !== 'beginning') return loop
  return tryPlan(loop, at)
}

function tryPlan(loop: Loop, at: number): Loop {
  const iteration = loop.iterations + 1
  const plan = [...loop.plan, newTry(iteration, 'plan', at)]
  return { ...loop, plan, iterations: iteration, stage: { name: 'planning', tries: plan.length } }
}

/** A plan is what can be worked off. One without an open box is none. */
export function onPlanSeen(loop: Loop, { at, list, ground }: LoopSignalOf<'plan.seen'>): Loop {
  if (loop.stage.name !== 'planning') return loop
  const open = list.items.filter(({ isDone }) => !isDone).length
  if (open === 0) return planless(loop, at, list.objections)
  const { branch, tip, marking, notes } = ground
  const adopted = withNotes(adopt({ ...loop, branch, tip, marking }, list, at), notes)
  if (loop.spec.plan === 'on') return { ...adopted, stage: { name: 'working' } }
  const reason = `${open} ${open === 1 ? 'task is' : 'tasks are'} planned in ${loop.spec.list}`
  return { ...adopted, stage: { name: 'ended', at, ending: { kind: 'planned', reason } } }
}

function planless(loop: Loop, at: number, objections: readonly string[]): Loop {
  const said = loop.plan.at(-1)?.verdict
  const why = objections[0] ?? `${loop.spec.list} has no open box${said ? `; the agent: ${said}` : ''}`
  const told = { ...loop, plan: withLast(loop.plan, { flaw: { kind: 'idle', reason: why, detail: '' } }) }
  if (loop.plan.length < loop.spec.retries) return tryPlan(told, at)
  const reason = `there is no plan after ${loop.plan.length} tries: ${why}`
  return { ...told, stage: { name: 'ended', at, ending: { kind: 'unfinished', reason } } }
}
