import { review } from './adopt.ts'
import { marked, taskOf, withTask, withTry } from './change.ts'
import type { Loop, LoopTask, Stand } from './loop.ts'
import type { LoopSignalOf } from './signals.ts'
import { failed, isCurrent } from './tending.ts'
import { judge, type Verdict } from './verdict.ts'

type Judging = Extract<Stand, { name: 'judging' }>

export function onJudged(loop: Loop, signal: LoopSignalOf<'task.judged'>): Loop {
  const { task: key, iteration, evidence, list } = signal
  const task = taskOf(loop, key)
  if (!isCurrent(task, iteration) || task.stand.name !== 'judging') return loop
  const verdict = verdictOn(task.stand, signal, loop.branch === null)
  const reviewed = loop.marking === 'here' && list.items.length > 0 ? review(loop, list, task) : loop
  const seen = withTask(reviewed, key, one => ({ ...one, evidence }))
  return settle(seen, task, { verdict, role: task.stand.role, signal })
}

function verdictOn(stand: Judging, signal: LoopSignalOf<'task.judged'>, isHere: boolean): Verdict {
  const { evidence, check, list, task: key, unresolved } = signal
  const isTicked = list.items.some(item => item.key === key && item.isDone)
  if (unresolved.length > 0) {
    const reason = `conflicts are left in ${unresolved.join(', ')}`
    return { kind: 'flawed', flaw: { kind: 'clash', reason, detail: stand.said } }
  }
  // On a branch of our own all of it is committed before it is merged.
  const told = isHere ? evidence : { ...evidence, uncommitted: 0 }
  return judge({ flaw: stand.flaw, said: stand.said, evidence: told, check, isTicked })
}

/** Proven by itself, it is done, or merged first. What cannot be brought together is a person's. */
function settle(
  loop: Loop,
  { item }: LoopTask,
  { verdict, role, signal }: { verdict: Verdict; role: Judging['role']; signal: LoopSignalOf<'task.judged'> },
): Loop {
  const { at, list } = signal
  const isTicked = list.items.some(({ key, isDone }) => key === item.key && isDone)
  if (verdict.kind === 'done') {
    const isHere = loop.branch === null
    const stand: Stand = isHere ? { name: 'done', at, how: verdict.how } : { name: 'merging', role }
    const judged = withTask(loop, item.key, one => ({ ...withTry(one, { verdict: verdict.how }), stand }))
    // Also where it is ticked: that it was to be unticked before may still be on its way.
    return isHere ? marked(judged, item.key, true, verdict.how) : judged
  }
  const { flaw } = verdict
  const undone = isTicked && loop.marking === 'here' ? marked(loop, item.key, false, flaw.reason) : loop
  if (role !== 'resolve')
    return withTask(undone, item.key, one => failed(one, flaw, { at, retries: loop.spec.retries }))
  return withTask(undone, item.key, one => kept(one, flaw.reason, flaw.detail, at))
}

/** For a person to bring together: both branches stay as they are. */
function kept(task: LoopTask, why: string, detail: string, at: number): LoopTask {
  const branches = [task.place?.branch, task.resolution?.branch]
    .filter(branch => typeof branch === 'string')
    .join(' and ')
  const reason = `it does not go together with what was merged before (${why}); it is on ${branches}`
  const flaw = { kind: 'clash', reason, detail } as const
  return { ...withTry(task, { flaw, verdict: reason }), stand: { name: 'blocked', at, flaw } }
}
