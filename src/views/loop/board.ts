import { LOOP_TASK_STATES, type LoopTaskState, type LoopTaskView, type LoopView } from '../../api/contract/loop-view.ts'
import { shownName } from '../../api/contract/shown-name.ts'
import type { SessionView } from '../../api/contract/responses.ts'
import { isReady, requestedTasks } from '../../core/loop/schedule.ts'
import {
  type Iteration,
  type Loop,
  type LoopTask,
  type TaskStateName,
  isFinal,
  isInProgress,
  taskProof,
} from '../../core/loop/loop-state.ts'
import { NO_USAGE, addUsage } from '../../core/session/usage.ts'
import { formatCommandLine } from '../../lib/text/shell-words.ts'
import { type Duration, type Instant, formatIso } from '../../lib/time.ts'
import { findNextCommand, isResumable, sumLoopSpent } from '../describe-session.ts'

/** The live agent sessions of a loop, by name. */
export type WorkersByName = ReadonlyMap<string, Pick<SessionView, 'phase' | 'reason'>>

/** Facts that the caller of `createBoard` knows beside the session. */
interface Known {
  readonly workers?: WorkersByName
  readonly stoppedAt?: Instant
}

interface BoardContext {
  readonly isActive: boolean
  /** The time at which the loop stopped, if it does not run; null when it is unknown. */
  readonly stoppedAt: Instant | null
  readonly now: Instant
  readonly workers: WorkersByName | null
}

/** Builds the view of a loop from its record and the state of its session and agent sessions. */
export function createBoard(loop: Loop, session: SessionView, now: Instant, known: Known = {}): LoopView {
  const isActive = isLoopActive(session)
  const { workers = null, stoppedAt = session.endedAt === null ? null : Date.parse(session.endedAt) } = known
  const tasks = requestedTasks(loop).map(task => toTaskView(task, loop, { isActive, stoppedAt, now, workers }))
  const { spec } = loop
  return {
    name: session.name,
    id: session.id,
    cwd: session.cwd,
    phase: session.phase,
    outcome: session.outcome,
    reason: endReason(loop, session),
    stage: displayedStage(loop, session),
    list: spec.list,
    check: spec.check,
    agent: spec.worker.agent,
    parallel: spec.parallel,
    width: loop.concurrency,
    iterations: loop.iterations - (spec.maxIterations === null ? 0 : loop.forgivenIterations),
    maxIterations: spec.maxIterations,
    branch: loop.branch,
    landedAt: loop.landedAt === null ? null : formatIso(loop.landedAt),
    counts: countStates(tasks),
    spent: sumLoopSpent(loop),
    createdAt: session.createdAt,
    endedAt: session.endedAt,
    secondsLeft: isActive ? toSeconds(estimateTimeLeft(loop, now)) : null,
    tasks,
    notes: loop.halt === null ? loop.notes : [...loop.notes, `the loop starts no more tasks: ${loop.halt}`],
    ...nextSteps(loop, session),
  }
}

/** Prefers the loop's own reason, because it says more than the exit of its program. */
function endReason({ stage }: Loop, { outcome, reason }: SessionView): string | null {
  return stage.name === 'ended' && outcome === 'done' ? stage.ending.reason : reason
}

/** Returns true when the loop's program runs, or will run without a person's help. */
function isLoopActive({ phase }: SessionView): boolean {
  return phase === 'starting' || phase === 'running' || phase === 'resting'
}

function displayedStage({ stage, spec }: Loop, { phase, trouble }: SessionView): LoopView['stage'] {
  if (stage.name !== 'ended') return stage.name
  const isReview = stage.ending.kind === 'planned' && spec.plan === 'first'
  return isReview && phase === 'blocked' && trouble === 'review' ? 'review' : 'ended'
}

function toTaskView(task: LoopTask, loop: Loop, context: BoardContext): LoopTaskView {
  const { item, tries, checkout } = task
  const state = displayedState(task, context)
  const spent = tries.map(one => one.spent).reduce(addUsage, NO_USAGE)
  const worked = measureWorkTime(task, context.isActive ? context.now : context.stoppedAt)
  return {
    id: item.label,
    title: item.title,
    state,
    tries: tries.length,
    evidence:
      state === 'paused'
        ? `paused ${PAUSED_TEXTS[task.state.name] ?? 'before its agent started'}`
        : addOrigin(task, describeWait(task, context) ?? describeEvidence(task, loop)),
    proof: taskProof(task),
    addedBy: task.addedBy ?? null,
    session: tries.at(-1)?.session ?? null,
    branch: task.isWorktreeRemoved ? null : (checkout?.branch ?? null),
    costUsd: spent.usd,
    seconds: Math.round(worked / 1000),
    after: loop.tasks.filter(other => item.after.includes(other.item.key)).map(other => other.item.label),
  }
}

/** Marks a task that an agent added. */
function addOrigin({ addedBy }: LoopTask, evidence: string | null): string | null {
  if (addedBy === undefined) return evidence
  return evidence === null ? `added by ${addedBy}` : `${evidence} (added by ${addedBy})`
}

const PAUSED_TEXTS: Readonly<Partial<Record<TaskStateName, string>>> = {
  working: 'while being worked on',
  verifying: 'while being checked',
  merging: 'while being merged',
}

function displayedState(task: LoopTask, context: BoardContext): LoopTaskState {
  const { state } = task
  const { isActive } = context
  switch (state.name) {
    case 'done':
    case 'blocked':
      return state.name
    case 'open':
    case 'dropped':
      return 'open'
    case 'working':
      return !isActive ? 'paused' : state.rest === null ? workerState(task, context) : 'resting'
    case 'opening':
      return isActive ? 'starting' : 'paused'
    case 'verifying':
      return isActive ? 'checking' : 'paused'
    case 'merging':
      return isActive ? 'merging' : 'paused'
  }
}

/** Returns `working` only while an agent is alive. */
function workerState(task: LoopTask, { workers }: BoardContext): 'working' | 'starting' | 'resting' | 'checking' {
  if (workers === null) return 'working'
  const name = task.tries.at(-1)?.session ?? null
  if (name === null) return 'starting'
  const phase = workers.get(name)?.phase
  if (phase === undefined || phase === 'stopping') return 'checking'
  return phase === 'running' ? 'working' : phase === 'starting' ? 'starting' : 'resting'
}

/** Milliseconds. A supervisor starts an agent within a second or two; only a longer wait deserves a note. */
const START_TIMEOUT = 10_000

/** Returns the reason that an agent does not work yet; null when it works. */
function describeWait(task: LoopTask, context: BoardContext): string | null {
  const last = task.tries.at(-1)
  const state = displayedState(task, context)
  if (state === 'starting' && last !== undefined && context.now - last.since > START_TIMEOUT)
    return 'waiting for the supervisor to start its agent'
  const worker = context.workers?.get(last?.session ?? '')
  return state === 'resting' && task.state.name === 'working' && task.state.rest === null
    ? (worker?.reason ?? null)
    : null
}

/** Describes the state of a task in one sentence. */
function describeEvidence(task: LoopTask, loop: Loop): string | null {
  const { state, tries } = task
  const last = tries.at(-1)
  switch (state.name) {
    case 'done':
      return state.how
    case 'blocked':
      return state.failure.reason
    case 'working':
      return state.rest ?? (state.role === 'resolve' ? 'an agent resolves its conflict with merged work' : null)
    case 'merging':
      return last?.verdict ?? null
    case 'open':
      return (
        last?.failure?.reason ?? (isReady(loop, task) ? null : `after ${listOpenDependencies(task, loop).join(', ')}`)
      )
    default:
      return null
  }
}

function listOpenDependencies({ item }: LoopTask, { tasks }: Loop): string[] {
  return tasks
    .filter(({ item: other, state }) => item.after.includes(other.key) && state.name !== 'done')
    .map(({ item: other }) => other.label)
}

function countStates(tasks: readonly LoopTaskView[]): LoopView['counts'] {
  const count = (state: LoopTaskState): number => tasks.filter(task => task.state === state).length
  return Object.fromEntries(LOOP_TASK_STATES.map(state => [state, count(state)])) as LoopView['counts']
}

/** Returns the next commands for the user, if any. */
function nextSteps(loop: Loop, session: SessionView): Pick<LoopView, 'next' | 'also'> {
  const { phase } = session
  const name = shownName(session)
  const landing =
    hasUnlandedWork(loop) && (phase === 'ended' || phase === 'blocked') ? `oneshot ralph land ${name}` : null
  if (isResumable(session) || session.isUnsupervised === true) return { next: findNextCommand(session), also: landing }
  if (phase === 'ended' && isPlanOnly(loop))
    return {
      next: formatCommandLine(['oneshot', 'ralph', ...(loop.spec.list === null ? [] : [loop.spec.list])]),
      also: null,
    }
  return { next: phase === 'ended' ? landing : `oneshot attach ${name}`, also: null }
}

function isPlanOnly({ stage, spec }: Loop): boolean {
  return stage.name === 'ended' && stage.ending.kind === 'planned' && spec.plan === 'only'
}

/** Returns true when the loop has merged work since its last landing. */
export function hasUnlandedWork({ branch, tasks, landedAt }: Loop): boolean {
  const isNew = ({ state, tries }: LoopTask): boolean =>
    state.name === 'done' && tries.length > 0 && (landedAt === null || state.at > landedAt)
  return branch !== null && tasks.some(isNew)
}

function toSeconds(duration: number | null): number | null {
  return duration === null ? null : Math.round(duration / 1000)
}

/**
 * Estimates the remaining time from the finished tasks. Returns null before the first task is done, and while all
 * agents rest, because then it would be a guess.
 */
function estimateTimeLeft(loop: Loop, now: Instant): Duration | null {
  const tasks = requestedTasks(loop)
  const done = tasks.filter(({ state, tries }) => state.name === 'done' && tries.length > 0)
  const remaining = tasks.filter(task => !isFinal(task))
  if (loop.stage.name !== 'working' || done.length === 0 || remaining.length === 0 || isStuck(remaining)) return null
  const average = done.map(task => measureWorkTime(task, now)).reduce((sum, one) => sum + one, 0) / done.length
  const estimates = remaining.map(task =>
    Math.max(average - measureWorkTime(task, now), isInProgress(task) ? 0 : average),
  )
  const divided = estimates.reduce((sum, one) => sum + one, 0) / Math.min(loop.concurrency, remaining.length)
  return Math.max(divided, ...estimates)
}

/**
 * Sums the time from the start of each try to its end, including the check and merge after the last one, without the
 * time in which the loop was stopped. `now` applies to a task in progress; for a stopped loop, it is the time of the
 * stop, or null when that is unknown.
 */
function measureWorkTime(task: LoopTask, now: Instant | null): Duration {
  const { tries, state } = task
  const last = tries.at(-1)
  if (last === undefined) return 0
  const earlier = tries.slice(0, -1).reduce((sum, one) => sum + lengthOf(one, one.until), 0)
  const end = state.name === 'done' ? state.at : isInProgress(task) ? now : null
  return earlier + lengthOf(last, end ?? last.until)
}

function lengthOf({ since, stops = [] }: Iteration, end: Instant | null): Duration {
  const until = end ?? since
  const stopped = stops.map(({ from, to }) => Math.max(0, Math.min(to, until) - Math.max(from, since)))
  return Math.max(0, until - since - stopped.reduce((sum, one) => sum + one, 0))
}

function isStuck(remaining: readonly LoopTask[]): boolean {
  const atWork = remaining.filter(isInProgress)
  return atWork.length > 0 && atWork.every(({ state }) => state.name === 'working' && state.rest !== null)
}
