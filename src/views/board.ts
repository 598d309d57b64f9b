import type { LoopTaskState, LoopTaskView, LoopView } from '../api/contract/loop-view.ts'
import { LOOP_TASK_STATES } from '../api/contract/loop-view.ts'
import type { SessionView } from '../api/contract/session-view.ts'
import { isReady, wantedOf } from '../core/loop/choose.ts'
import type { Loop, LoopTask } from '../core/loop/loop.ts'
import { add, NOTHING_SPENT } from '../core/spending.ts'
import { commandLine } from '../lib/quote.ts'
import { type Instant, iso } from '../lib/time.ts'
import { timeLeft, workedOn } from './time-left.ts'
import { isResumable } from './way-on.ts'

/** A loop as people see it: what it has written down, held against how its session is. */
export function boardOf(loop: Loop, session: SessionView, now: Instant): LoopView {
  const isAtIt = isGoingOn(session)
  const tasks = wantedOf(loop).map(task => taskView(task, loop, { isAtIt, now }))
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
    notes: loop.halt === null ? loop.notes : [...loop.notes, `no other task is begun: ${loop.halt}`],
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

function taskView(task: LoopTask, loop: Loop, seen: { isAtIt: boolean; now: Instant }): LoopTaskView {
  const { item, tries, place, stand } = task
  const state = stateOf(task, seen.isAtIt)
  const spent = tries.map(one => one.spent).reduce(add, NOTHING_SPENT)
  const worked = workedOn(task, seen.isAtIt ? seen.now : null)
  return {
    id: item.label,
    title: item.title,
    state,
    tries: tries.length,
    evidence:
      state === 'paused' ? `it was ${PAUSED[stand.name] ?? 'at work'}, and goes on there` : evidenceOf(task, loop),
    session: tries.at(-1)?.session ?? null,
    branch: task.isCleared ? null : (place?.branch ?? null),
    costUsd: spent.usd,
    seconds: Math.round(worked / 1000),
    after: loop.tasks.filter(other => item.after.includes(other.item.key)).map(other => other.item.label),
  }
}

const PAUSED: Readonly<Record<string, string>> = { working: 'worked on', judging: 'looked at', merging: 'to be merged' }

function stateOf({ stand }: LoopTask, isAtIt: boolean): LoopTaskState {
  switch (stand.name) {
    case 'done':
    case 'blocked':
      return stand.name
    case 'open':
    case 'dropped':
      return 'open'
    case 'working':
      return !isAtIt ? 'paused' : stand.rest === null ? 'working' : 'resting'
    case 'opening':
      return isAtIt ? 'working' : 'paused'
    case 'judging':
      return isAtIt ? 'checking' : 'paused'
    case 'merging':
      return isAtIt ? 'merging' : 'paused'
  }
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
      return stand.rest ?? (stand.role === 'resolve' ? 'brought together with the others' : null)
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

function spentOn({ tasks, plan }: Loop): SessionView['spent'] {
  const all = [...plan, ...tasks.flatMap(({ tries }) => tries)].map(({ spent }) => spent).reduce(add, NOTHING_SPENT)
  const { turns, input, cached, output, usd } = all
  return { turns, inputTokens: input, cachedTokens: cached, outputTokens: output, costUsd: usd }
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
