import { review } from './adopt.ts'
import { marked, taskOf, withNotes, withTask, withTry } from './change.ts'
import { hasWork } from './evidence.ts'
import { fewerTests, isExcused, withCheck } from './first-check.ts'
import type { ItemList } from './item.ts'
import type { Flaw, Loop, LoopTask, Stand } from './loop.ts'
import { reopen } from './losses.ts'
import { withTaskKeys } from './renamed-items.ts'
import type { LoopSignalOf } from './signals.ts'
import { failed, isCurrent } from './tending.ts'
import { judge, type Verdict } from './verdict.ts'

type Judging = Extract<Stand, { name: 'judging' }>

export function onJudged(loop: Loop, signal: LoopSignalOf<'task.judged'>): Loop {
  const { task: key, iteration, evidence, list } = signal
  const task = taskOf(loop, key)
  if (!isCurrent(task, iteration) || task.stand.name !== 'judging') return loop
  const listed = withNotes(loop, signal.listNote ? [signal.listNote] : [])
  const reviewed = loop.marking === 'here' && list !== null ? review(listed, list, task) : listed
  const isTicked = isTickedIn(reviewed, list, key)
  const verdict = verdictOn(task.stand, signal, { loop, isTicked })
  const isHere = loop.branch === null
  // In worktrees nothing but files of the user's can be lost yet.
  const losses = signal.losses?.filter(loss => isHere || loss.task === null)
  const whole = reopen(reviewed, losses, { at: signal.at, by: task })
  const thinned = (signal.thinned ?? []).map(what => `after the agent of task ${task.item.label} worked, ${what}`)
  const told = withNotes(withCheck(whole, signal.check), [
    ...(signal.strayed ? [signal.strayed] : []),
    ...thinned,
    ...(signal.notes ?? []),
  ])
  const seen = withTask(told, key, one => ({ ...one, evidence }))
  const isUnderWay = (signal.underWay ?? null) !== null
  return settle(seen, task, { verdict, role: task.stand.role, at: signal.at, isTicked, isUnderWay })
}

/** Also under the title that the agent gave it. */
function isTickedIn(loop: Loop, list: ItemList | null, task: string): boolean {
  return list !== null && withTaskKeys(list, loop).items.some(({ key, isDone }) => key === task && isDone)
}

function verdictOn(
  stand: Judging,
  signal: LoopSignalOf<'task.judged'>,
  { loop, isTicked }: { loop: Loop; isTicked: boolean },
): Verdict {
  const isHere = loop.branch === null
  const { evidence, check, unresolved } = signal
  const weaker = weakenedBy(signal)
  // In the user's checkout it would be the check of all tasks that follow, whatever else was wrong.
  if (isHere && weaker !== null) return { kind: 'flawed', flaw: weaker }
  if (unresolved.length > 0) {
    const reason = `conflicts are left in ${unresolved.join(', ')}`
    const kind = stand.role === 'resolve' ? 'clash' : 'unfinished'
    return { kind: 'flawed', flaw: { kind, reason, detail: stand.said } }
  }
  const flaw = leftBehind(signal, isHere) ?? weaker
  if (stand.flaw === null && flaw !== null) return { kind: 'flawed', flaw }
  // On a branch of our own all of it is committed before it is merged.
  const told = isHere ? evidence : { ...evidence, uncommitted: 0 }
  const allowed = (signal.weakened?.allowed ?? []).map(what => `as allowed, ${what}`)
  const thinned = (signal.thinned ?? []).map(what => what.replace(/; `.*/s, ''))
  const remarks = [...fewerTests(loop, check), ...allowed, ...thinned]
  const isOff = isExcused(loop, check)
  return judge({ flaw: stand.flaw, said: stand.said, evidence: told, check, isTicked, remarks, isExcused: isOff })
}

/** What must not be left behind, whatever else was done. In a worktree of its own nothing is lost yet, and it is not merged. */
function leftBehind(signal: LoopSignalOf<'task.judged'>, isHere: boolean): Flaw | null {
  const { underWay, evidence, losses = [], strayed } = signal
  if (underWay) {
    const reason = `${underWay} is unfinished: finish and commit it, or abort it`
    return { kind: 'unfinished', reason, detail: '' }
  }
  if (strayed && !hasWork(evidence)) return { kind: 'failed', reason: strayed, detail: '' }
  const undone = losses.filter(({ task }) => task !== null)
  if (undone.length === 0 || (isHere && hasWork(evidence))) return null
  const told = undone.map(({ what, cure }) => `${what}; \`${cure}\` brings it back`)
  return { kind: 'lost', reason: `the agent removed finished work: ${told.join('; ')}`, detail: '' }
}

/** Work that can be proven only by a weaker check is not proven. */
function weakenedBy({ weakened }: LoopSignalOf<'task.judged'>): Flaw | null {
  if (weakened === undefined || weakened.refused.length === 0) return null
  const told = weakened.refused.slice(0, MOST_TOLD)
  const more = weakened.refused.length > MOST_TOLD ? [`${weakened.refused.length - MOST_TOLD} more`] : []
  const reason = `the loop did not run the check, because it is weaker than before: ${[...told, ...more].join('; ')}`
  return {
    kind: 'weakened',
    reason,
    detail: 'Restore this as it was. You may add tests and change code, but do not change the check.',
  }
}

const MOST_TOLD = 4

interface Settling {
  readonly verdict: Verdict
  readonly role: Judging['role']
  readonly at: number
  readonly isTicked: boolean
  /** Git was left in the middle of something. */
  readonly isUnderWay: boolean
}

/** Proven by itself, it is done, or merged first. What cannot be brought together is a person's. */
function settle(loop: Loop, { item }: LoopTask, { verdict, role, at, isTicked, isUnderWay }: Settling): Loop {
  const isHere = loop.branch === null
  if (verdict.kind === 'done') {
    const { how, proof } = verdict
    const stand: Stand = isHere ? { name: 'done', at, how, proof } : { name: 'merging', role }
    const judged = withTask(loop, item.key, one => ({ ...withTry(one, { verdict: how, proof }), stand }))
    // Also where it is ticked: that it was to be unticked before may still be on its way.
    return isHere ? marked(judged, item.key, true, how) : judged
  }
  const { flaw } = verdict
  const undone = isTicked && loop.marking === 'here' ? marked(loop, item.key, false, flaw.reason) : loop
  if (role !== 'resolve')
    return halted(
      withTask(undone, item.key, one => failed(one, flaw, { at, retries: loop.spec.retries })),
      item,
      isUnderWay,
    )
  return withTask(undone, item.key, one => kept(one, flaw.reason, flaw.detail, at))
}

/** In the user's checkout the next tasks would have the weaker check, or the unfinished merge, and could not be judged. */
function halted(loop: Loop, { key, label }: LoopTask['item'], isUnderWay: boolean): Loop {
  const stand = taskOf(loop, key)?.stand
  if (loop.branch !== null || stand?.name !== 'blocked') return loop
  if (stand.flaw.kind === 'weakened')
    return {
      ...loop,
      halt: `task ${label} left a weaker check behind; restore it with git, or start with --allow PATH`,
    }
  if (!isUnderWay) return loop
  return {
    ...loop,
    halt: `task ${label} left git in the middle of something (${stand.flaw.reason}); git status shows how to finish or abort it`,
  }
}

/** For a person to bring together: both branches stay as they are. */
function kept(task: LoopTask, why: string, detail: string, at: number): LoopTask {
  const branches = [task.place?.branch, task.resolution?.branch]
    .filter(branch => typeof branch === 'string')
    .join(' and ')
  const reason = `it conflicts with work already merged (${why}); it is on ${branches}`
  const flaw = { kind: 'clash', reason, detail } as const
  return { ...withTry(task, { flaw, verdict: reason }), stand: { name: 'blocked', at, flaw } }
}
