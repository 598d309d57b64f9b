import type { LoopTaskState, LoopTaskView, LoopView } from '../api/contract/loop-view.ts'
import { LOOP_TASK_STATES } from '../api/contract/loop-view.ts'
import type { SessionView } from '../api/contract/session-view.ts'
import { isReady, wantedOf } from '../core/loop/choose.ts'
import { type Loop, type LoopTask, proofOf } from '../core/loop/loop.ts'
import { add, NOTHING_SPENT } from '../core/spending.ts'
import { commandLine } from '../lib/quote.ts'
import { type Instant, iso } from '../lib/time.ts'
import { spentOn } from './spent.ts'
import { timeLeft, workedOn } from './time-left.ts'
import { isResumable } from './way-on.ts'

/** Those who work for a loop and have not ended, by name. */
export type Workers = ReadonlyMap<string, Pick<SessionView, 'phase' | 'reason'>>

/** What the caller of `boardOf` knows beside the session. */
interface Known {
  readonly workers?: Workers
  readonly stoppedAt?: Instant
}

interface Seen {
  readonly isAtIt: boolean
  /** When the loop stopped, for one that does not run; null where nobody knows it. */
  readonly stoppedAt: Instant | null
  readonly now: Instant
  readonly workers: Workers | null
}

/** A loop as people see it: what it has written down, held against how its session and those of its workers are. */
export function boardOf(loop: Loop, session: SessionView, now: Instant, known: Known = {}): LoopView {
  const isAtIt = isGoingOn(session)
  const { workers = null, stoppedAt = session.endedAt === null ? null : Date.parse(session.endedAt) } = known
  const tasks = wantedOf(loop).map(task => taskView(task, loop, { isAtIt, stoppedAt, now, workers }))
  const { spec } = loop
  return {
    name: session.name,
    id: session.id,
    cwd: session.cwd,
    phase: session.phase,
    outcome: session.outcome,
    reason: reasonOf(loop, session),
    stage: stageOf(loop, session),
    list: spec.list,
    check: spec.check,
    agent: spec.worker.agent,
    parallel: spec.parallel,
    width: loop.width,
    iterations: loop.iterations - (spec.maxIterations === null ? 0 : loop.waived),
    maxIterations: spec.maxIterations,
    branch: loop.branch,
    landedAt: loop.landedAt === null ? null : iso(loop.landedAt),
    counts: countsOf(tasks),
    spent: spentOn(loop),
    createdAt: session.createdAt,
    endedAt: session.endedAt,
    secondsLeft: isAtIt ? inSeconds(timeLeft(loop, now)) : null,
    tasks,
    notes: loop.halt === null ? loop.notes : [...loop.notes, `the loop starts no more tasks: ${loop.halt}`],
    ...nextSteps(loop, session),
  }
}

/** How a loop came to its end says more than that its program did. */
function reasonOf({ stage }: Loop, { outcome, reason }: SessionView): string | null {
  return stage.name === 'ended' && outcome === 'done' ? stage.ending.reason : reason
}

/** Whether its program is at work, or will be without anybody's help. */
function isGoingOn({ phase }: SessionView): boolean {
  return phase === 'starting' || phase === 'running' || phase === 'resting'
}

function stageOf({ stage, spec }: Loop, { phase, trouble }: SessionView): LoopView['stage'] {
  if (stage.name !== 'ended') return stage.name
  const isReview = stage.ending.kind === 'planned' && spec.plan === 'first'
  return isReview && phase === 'blocked' && trouble === 'review' ? 'review' : 'ended'
}

function taskView(task: LoopTask, loop: Loop, seen: Seen): LoopTaskView {
  const { item, tries, place, stand } = task
  const state = stateOf(task, seen)
  const spent = tries.map(one => one.spent).reduce(add, NOTHING_SPENT)
  const worked = workedOn(task, seen.isAtIt ? seen.now : seen.stoppedAt)
  return {
    id: item.label,
    title: item.title,
    state,
    tries: tries.length,
    evidence:
      state === 'paused'
        ? `paused ${PAUSED[stand.name] ?? 'before its agent started'}`
        : withOrigin(task, waitingOf(task, seen) ?? evidenceOf(task, loop)),
    proof: proofOf(task),
    addedBy: task.addedBy ?? null,
    session: tries.at(-1)?.session ?? null,
    branch: task.isCleared ? null : (place?.branch ?? null),
    costUsd: spent.usd,
    seconds: Math.round(worked / 1000),
    after: loop.tasks.filter(other => item.after.includes(other.item.key)).map(other => other.item.label),
  }
}

/** A task that nobody but an agent wanted is told from the others. */
function withOrigin({ addedBy }: LoopTask, evidence: string | null): string | null {
  if (addedBy === undefined) return evidence
  return evidence === null ? `added by ${addedBy}` : `${evidence} (added by ${addedBy})`
}

const PAUSED: Readonly<Record<string, string>> = {
  working: 'while being worked on',
  judging: 'while being checked',
  merging: 'while being merged',
}

function stateOf(task: LoopTask, seen: Seen): LoopTaskState {
  const { stand } = task
  const { isAtIt } = seen
  switch (stand.name) {
    case 'done':
    case 'blocked':
      return stand.name
    case 'open':
    case 'dropped':
      return 'open'
    case 'working':
      return !isAtIt ? 'paused' : stand.rest === null ? workerState(task, seen) : 'resting'
    case 'opening':
      return isAtIt ? 'starting' : 'paused'
    case 'judging':
      return isAtIt ? 'checking' : 'paused'
    case 'merging':
      return isAtIt ? 'merging' : 'paused'
  }
}

/** Nobody is said to work unless an agent lives. */
function workerState(task: LoopTask, { workers }: Seen): 'working' | 'starting' | 'resting' | 'checking' {
  if (workers === null) return 'working'
  const name = task.tries.at(-1)?.session ?? null
  if (name === null) return 'starting'
  const phase = workers.get(name)?.phase
  if (phase === undefined || phase === 'stopping') return 'checking'
  return phase === 'running' ? 'working' : phase === 'starting' ? 'starting' : 'resting'
}

/** A supervisor starts an agent within a second or two; only after this is it worth a word. */
const USUAL_START = 10_000

/** Why an agent that should work does not; null where it does. */
function waitingOf(task: LoopTask, seen: Seen): string | null {
  const last = task.tries.at(-1)
  const state = stateOf(task, seen)
  if (state === 'starting' && last !== undefined && seen.now - last.since > USUAL_START)
    return 'waiting for the supervisor to start its agent'
  const worker = seen.workers?.get(last?.session ?? '')
  return state === 'resting' && task.stand.name === 'working' && task.stand.rest === null
    ? (worker?.reason ?? null)
    : null
}

/** What is known of how it stands, in a sentence. */
function evidenceOf(task: LoopTask, loop: Loop): string | null {
  const { stand, tries } = task
  const last = tries.at(-1)
  switch (stand.name) {
    case 'done':
      return stand.how
    case 'blocked':
      return stand.flaw.reason
    case 'working':
      return stand.rest ?? (stand.role === 'resolve' ? 'an agent resolves its conflict with merged work' : null)
    case 'merging':
      return last?.verdict ?? null
    case 'open':
      return last?.flaw?.reason ?? (isReady(loop, task) ? null : `after ${awaited(task, loop).join(', ')}`)
    default:
      return null
  }
}

function awaited({ item }: LoopTask, { tasks }: Loop): string[] {
  return tasks
    .filter(({ item: other, stand }) => item.after.includes(other.key) && stand.name !== 'done')
    .map(({ item: other }) => other.label)
}

function countsOf(tasks: readonly LoopTaskView[]): LoopView['counts'] {
  const count = (state: LoopTaskState): number => tasks.filter(task => task.state === state).length
  return Object.fromEntries(LOOP_TASK_STATES.map(state => [state, count(state)])) as LoopView['counts']
}

/** What a person does next, if anything. */
function nextSteps(loop: Loop, session: SessionView): Pick<LoopView, 'next' | 'also'> {
  const { name, phase } = session
  const landing = hasToLand(loop) && (phase === 'ended' || phase === 'blocked') ? `oneshot ralph land ${name}` : null
  if (isResumable(session)) return { next: `oneshot resume ${name}`, also: landing }
  if (phase === 'ended' && isPlanOnly(loop))
    return { next: commandLine(['oneshot', 'ralph', ...(loop.spec.list === null ? [] : [loop.spec.list])]), also: null }
  return { next: phase === 'ended' ? landing : `oneshot attach ${name}`, also: null }
}

function isPlanOnly({ stage, spec }: Loop): boolean {
  return stage.name === 'ended' && stage.ending.kind === 'planned' && spec.plan === 'only'
}

/** Something was merged since it last landed. */
function hasToLand({ branch, tasks, landedAt }: Loop): boolean {
  const isNew = ({ stand, tries }: LoopTask): boolean =>
    stand.name === 'done' && tries.length > 0 && (landedAt === null || stand.at > landedAt)
  return branch !== null && tasks.some(isNew)
}

function inSeconds(duration: number | null): number | null {
  return duration === null ? null : Math.round(duration / 1000)
}
