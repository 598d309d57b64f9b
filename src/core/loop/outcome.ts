import {
  isAddedLimitReached,
  awaitsAcceptance,
  isReady,
  isIterationLimitReached,
  MAX_ADDED,
  requestedTasks,
} from './schedule.ts'
import { type LoopOutcome, type Loop, type LoopTask, type TaskProof, taskDoubt, taskProof } from './loop-state.ts'

/** Decides the outcome of a loop that can do nothing more. */
export function loopOutcome(loop: Loop): LoopOutcome {
  const wanted = requestedTasks(loop)
  const done = wanted.filter(({ state }) => state.name === 'done')
  const count = `${done.length} of ${wanted.length} ${wanted.length === 1 ? 'task' : 'tasks'} done`
  if (wanted.length === 0) return { kind: 'unfinished', reason: emptyReason(loop) }
  if (done.length === wanted.length) return { kind: 'done', reason: `${count}${proofText(loop, done)}` }
  if (isSingleIterationDone(loop, wanted)) return { kind: 'done', reason: `${count}, one iteration, as requested` }
  const reasons = [
    loop.halt,
    iterationLimitReason(loop),
    addedReason(loop, wanted),
    blockedReason(wanted),
    waitingReason(loop, wanted),
  ].filter(reason => reason !== null)
  return { kind: 'unfinished', reason: [count, ...reasons].join('; ') }
}

function proofText({ spec, firstCheck }: Loop, done: readonly LoopTask[]): string {
  if (spec.check !== null && firstCheck?.ok === false) return ', but the check fails as it did before the first task'
  const doubtful = done.filter(task => taskDoubt(task) !== null).length
  const count = (proof: TaskProof | null): number =>
    done.filter(task => taskDoubt(task) === null && taskProof(task) === proof).length
  if (count('checked') === done.length) return ' and proven'
  if (count('changed') === done.length) return ' (changed files; not tested)'
  if (doubtful === done.length) return ' (not fully proven)'
  const parts = [
    [count('checked'), 'proven'],
    [doubtful, 'not fully proven'],
    [count('changed'), 'only changed files'],
    [count(null), 'ticked in the list'],
  ] as const
  return ` (${parts.flatMap(([many, what]) => (many === 0 ? [] : [`${many} ${what}`])).join('; ')})`
}

/** A loop of a single iteration is done if its iteration succeeded. */
function isSingleIterationDone(loop: Loop, wanted: readonly LoopTask[]): boolean {
  const last = wanted.find(({ tries }) => tries.at(-1)?.iteration === loop.iterations)
  return loop.spec.maxIterations === 1 && isIterationLimitReached(loop) && last?.state.name === 'done'
}

/** The loop works on tasks that agents added up to a limit; a person decides about the rest. */
function addedReason(loop: Loop, wanted: readonly LoopTask[]): string | null {
  const held = wanted.filter(task => task.state.name === 'open' && awaitsAcceptance(task))
  if (held.length === 0 || !isAddedLimitReached(loop)) return null
  const most = loop.spec.maxAdded ?? MAX_ADDED
  const what = held.length === 1 ? '1 task that an agent added is' : `${held.length} tasks that agents added are`
  return `${what} not started: a loop starts at most ${most} of these by itself; remove the tasks that you do not want from the list, then resume the loop`
}

function waitingReason(loop: Loop, wanted: readonly LoopTask[]): string | null {
  const waiting = wanted.find(task => task.state.name === 'open' && !awaitsAcceptance(task) && !isReady(loop, task))
  if (waiting === undefined || wanted.some(({ state }) => state.name === 'blocked')) return null
  const { item } = waiting
  const before = loop.tasks.filter(({ item: other, state }) => item.after.includes(other.key) && state.name !== 'done')
  return `task ${item.label} waits for ${before.map(({ item: other }) => other.label).join(', ')}`
}

function emptyReason({ spec }: Loop): string {
  const list = spec.list ?? 'the task tracker'
  return spec.only === null ? `there is no task in ${list}` : `there is no task ${spec.only} in ${list}`
}

function iterationLimitReason(loop: Loop): string | null {
  const { maxIterations } = loop.spec
  return isIterationLimitReached(loop)
    ? `${maxIterations} ${maxIterations === 1 ? 'iteration was' : 'iterations were'} allowed`
    : null
}

function blockedReason(wanted: readonly LoopTask[]): string | null {
  const blocked = wanted.filter(({ state }) => state.name === 'blocked')
  if (blocked.length === 0) return null
  const [first] = blocked
  const why = first?.state.name === 'blocked' ? `: ${first.state.failure.reason}` : ''
  const waiting = wanted.filter(({ state }) => state.name === 'open').length
  const rest = waiting === 0 ? '' : `, ${waiting} not started`
  return blocked.length === 1
    ? `task ${first?.item.label} is blocked${why}${rest}`
    : `tasks ${blocked.map(({ item }) => item.label).join(', ')} are blocked; task ${first?.item.label}${why}${rest}`
}
