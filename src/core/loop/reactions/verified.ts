import { reviewListAfterWorker } from '../list/sync-tasks.ts'
import { requestMark, findTask, addNotes, updateTask, updateLastIteration } from '../loop-updates.ts'
import { hasWork } from '../work-evidence.ts'
import { findFewerTests, isFailingSinceStart, updateBaseline } from '../baseline-check.ts'
import type { TaskList } from '../list/task-list.ts'
import type { TaskFailure, Loop, LoopTask, TaskState } from '../loop-state.ts'
import { describeCure, formatFew, type LostWork, reopenTasks } from '../lost-work/lost-work.ts'
import { mapToTaskKeys } from '../list/renamed-items.ts'
import type { LoopSignalOf } from '../signals.ts'
import { failIteration, isCurrentIteration } from './worker.ts'
import { verifyTask, type TaskVerdict } from '../verify.ts'

type VerifyingState = Extract<TaskState, { name: 'verifying' }>

export function onVerified(loop: Loop, signal: LoopSignalOf<'task.verified'>): Loop {
  const { task: key, iteration, evidence, list } = signal
  const task = findTask(loop, key)
  if (!isCurrentIteration(task, iteration) || task.state.name !== 'verifying') return loop
  const listed = addNotes(loop, signal.listNote ? [signal.listNote] : [])
  const reviewed =
    loop.tickAt === 'here' && list !== null
      ? reviewListAfterWorker(listed, list, task, signal.restoreListCommand)
      : listed
  const isTicked = isTickedIn(reviewed, list, key)
  const verdict = evaluateTask(task.state, signal, { loop, isTicked })
  const isHere = loop.branch === null
  // In worktrees an agent can so far lose only files of the user's.
  const losses = signal.losses?.filter(loss => isHere || loss.task === null)
  const whole = reopenTasks(reviewed, losses, { at: signal.at, by: task })
  const shortenedFiles = (signal.shortenedFiles ?? []).map(
    what => `after the agent of task ${task.item.label} worked, ${what}`,
  )
  // The weaker check must not become the baseline.
  const isWeaker = verdict.kind === 'failed' && verdict.failure.kind === 'weakened'
  const noted = addNotes(isWeaker ? whole : updateBaseline(whole, signal.check), [
    // These name deleted branches and settings of git. The command for a checkout of a deleted branch fails before
    // somebody has restored the branch.
    ...(signal.notes ?? []),
    ...(signal.outsideChanges ? [signal.outsideChanges] : []),
    ...shortenedFiles,
  ])
  // Without the state from before, the next iteration needs a new one.
  const isNewStart = signal.isBaselineLost === true && isHere
  const seen = updateTask(noted, key, one => ({ ...one, evidence, ...(isNewStart && { checkout: null }) }))
  const isUnderWay = (signal.underWay ?? null) !== null
  return applyVerdict(seen, task, { verdict, role: task.state.role, at: signal.at, isTicked, isUnderWay })
}

/** Returns true also if the agent has renamed the item. */
function isTickedIn(loop: Loop, list: TaskList | null, task: string): boolean {
  return list !== null && mapToTaskKeys(list, loop).items.some(({ key, isDone }) => key === task && isDone)
}

function evaluateTask(
  state: VerifyingState,
  signal: LoopSignalOf<'task.verified'>,
  { loop, isTicked }: { loop: Loop; isTicked: boolean },
): TaskVerdict {
  const isHere = loop.branch === null
  const { evidence, check, unresolved } = signal
  const weaker = tamperingFailure(signal) ?? missingTestsFailure(loop, signal)
  // In the user's checkout all later tasks would use the weaker check, whatever else was wrong.
  if (isHere && weaker !== null) return { kind: 'failed', failure: weaker }
  if (unresolved.length > 0) {
    const reason = `conflicts are left in ${unresolved.join(', ')}`
    const kind = state.role === 'resolve' ? 'conflict' : 'unfinished'
    return { kind: 'failed', failure: { kind, reason, detail: state.finalOutput } }
  }
  const failure = findLeftovers(signal, isHere) ?? weaker
  if (state.failure === null && failure !== null) return { kind: 'failed', failure }
  // On a branch of our own, oneshot commits everything before the merge.
  const committed = isHere ? evidence : { ...evidence, uncommitted: 0 }
  const allowed = (signal.weakened?.allowed ?? []).map(what => `as allowed, ${what}`)
  const shortenedFiles = (signal.shortenedFiles ?? []).map(what => what.replace(/; `.*/s, ''))
  const added = listTests('added to existing tests', signal.weakened?.extendedTests)
  const remarks = [...allowed, ...added, ...shortenedFiles]
  const isOff = isFailingSinceStart(loop, check)
  return verifyTask({
    failure: state.failure,
    said: state.finalOutput,
    evidence: committed,
    check,
    isTicked,
    remarks,
    doubts: findDoubts(loop, signal),
    isExcused: isOff,
  })
}

/** Finds the reasons why a check that passes may prove less than before the task. */
function findDoubts(loop: Loop, { check, weakened }: LoopSignalOf<'task.verified'>): string[] {
  const fewer = findFewerTests(loop, check)
  return [
    ...(fewer === null ? [] : [`only ${fewer.now} of ${fewer.before} tests still run`]),
    ...listTests('changed existing tests', weakened?.changedTests),
  ]
}

function listTests(what: string, tests: readonly string[] = []): string[] {
  return tests.length === 0 ? [] : [`${what}: ${formatFew(tests)}`]
}

/**
 * Finds things that the worker must not leave behind, whatever else it did. In a worktree of its own nothing is lost
 * yet, because the loop does not merge it.
 */
function findLeftovers(signal: LoopSignalOf<'task.verified'>, isHere: boolean): TaskFailure | null {
  const { underWay, evidence, losses = [], outsideChanges } = signal
  if (underWay) {
    const remedy = underWay === 'a bisection' ? 'end it with git bisect reset' : 'finish and commit it, or abort it'
    const reason = `${underWay} is unfinished: ${remedy}`
    return { kind: 'unfinished', reason, detail: '' }
  }
  if (outsideChanges && !hasWork(evidence)) return { kind: 'failed', reason: outsideChanges, detail: '' }
  const undone = losses.filter(({ task }) => task !== null)
  if (signal.isBaselineLost) {
    const also = undone.length === 0 ? '' : `, and removed finished work: ${describeLosses(undone)}`
    const reason = `the agent deleted the commits from before its work from the repository: nobody can tell its changes${also}`
    return { kind: 'lost', reason, detail: '' }
  }
  if (undone.length === 0 || (isHere && hasWork(evidence))) return null
  return { kind: 'lost', reason: `the agent removed finished work: ${describeLosses(undone)}`, detail: '' }
}

function describeLosses(losses: readonly LostWork[]): string {
  return losses.map(describeCure).join('; ')
}

/** A weaker check proves nothing. */
function tamperingFailure({ weakened }: LoopSignalOf<'task.verified'>): TaskFailure | null {
  if (weakened === undefined || weakened.refused.length === 0) return null
  const listed = weakened.refused.slice(0, MAX_LISTED)
  const more = weakened.refused.length > MAX_LISTED ? [`${weakened.refused.length - MAX_LISTED} more`] : []
  const reason = `the loop did not run the check, because it is weaker than before: ${[...listed, ...more].join('; ')}`
  return {
    kind: 'weakened',
    reason,
    detail: 'Restore this as it was. You may add tests and change code, but do not change the check.',
  }
}

const MAX_LISTED = 4

/** A check without any test proves nothing, unless the user has allowed that its tests go. */
function missingTestsFailure(loop: Loop, { check, weakened }: LoopSignalOf<'task.verified'>): TaskFailure | null {
  const fewer = findFewerTests(loop, check)
  if (fewer === null || fewer.now > 0 || (weakened?.allowed.length ?? 0) > 0) return null
  return {
    kind: 'weakened',
    reason: `the check runs no test any more; it ran ${fewer.before} before`,
    detail: 'Find out why the check runs none of its tests, and correct that. Do not change the check.',
  }
}

interface TaskEvaluation {
  readonly verdict: TaskVerdict
  readonly role: VerifyingState['role']
  readonly at: number
  readonly isTicked: boolean
  /** The worker left a git operation unfinished. */
  readonly isUnderWay: boolean
}

/** Marks proven work as done, or merges it first. A person resolves a conflict that an agent could not resolve. */
function applyVerdict(
  loop: Loop,
  { item }: LoopTask,
  { verdict, role, at, isTicked, isUnderWay }: TaskEvaluation,
): Loop {
  const isHere = loop.branch === null
  if (verdict.kind === 'done') {
    const { how, proof, doubt } = verdict
    const proven = { proof, ...(doubt !== null && { doubt }) }
    const state: TaskState = isHere ? { name: 'done', at, how, ...proven } : { name: 'merging', role }
    const judged = updateTask(loop, item.key, one => ({
      ...updateLastIteration(one, { verdict: how, ...proven }),
      state,
    }))
    // Also requests the mark for a ticked box, because an earlier request to untick it may still be pending.
    return isHere ? requestMark(judged, item.key, true, how) : judged
  }
  const { failure } = verdict
  const reopened = isTicked && loop.tickAt === 'here' ? requestMark(loop, item.key, false, failure.reason) : loop
  if (role !== 'resolve')
    return haltIfUnsafe(
      updateTask(reopened, item.key, one => failIteration(one, failure, { at, retries: loop.spec.retries })),
      item,
      isUnderWay,
    )
  return updateTask(reopened, item.key, one => blockOnConflict(one, failure.reason, failure.detail, at))
}

/**
 * In the user's checkout the next tasks would get the weaker check, or the unfinished merge, and the verifier could not
 * verify them.
 */
function haltIfUnsafe(loop: Loop, { key, label }: LoopTask['item'], isUnderWay: boolean): Loop {
  const state = findTask(loop, key)?.state
  if (loop.branch !== null || state?.name !== 'blocked') return loop
  if (state.failure.kind === 'weakened')
    return {
      ...loop,
      halt: `task ${label} left a weaker check behind; restore it with git, or start with --allow PATH`,
    }
  if (!isUnderWay) return loop
  return {
    ...loop,
    halt: `task ${label} left git in the middle of something (${state.failure.reason}); git status shows how to finish or abort it`,
  }
}

/** Leaves a conflict to a person: both branches stay as they are. */
function blockOnConflict(task: LoopTask, why: string, detail: string, at: number): LoopTask {
  const branches = [task.checkout?.branch, task.resolution?.branch]
    .filter(branch => typeof branch === 'string')
    .join(' and ')
  const reason = `it conflicts with work already merged (${why}); it is on ${branches}`
  const failure = { kind: 'conflict', reason, detail } as const
  return { ...updateLastIteration(task, { failure, verdict: reason }), state: { name: 'blocked', at, failure } }
}
