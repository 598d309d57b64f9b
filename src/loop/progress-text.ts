import { type TaskFailure, type Loop, type LoopTask, taskProof } from '../core/loop/loop-state.ts'
import { requestedTasks } from '../core/loop/schedule.ts'

/** Describes the step from one state to the next for the user, one sentence per change. */
export function describeChanges(before: Loop, after: Loop): string[] {
  const known = new Map(before.tasks.map(task => [task.item.key, task]))
  return [
    ...after.notes.filter(note => !before.notes.includes(note)).map(note => `note: ${note}`),
    ...describeStart(before, after),
    ...after.tasks.flatMap(task => describeTask(known.get(task.item.key), task, after)),
    ...describeReopened(before, after),
    ...describeConcurrency(before, after),
    ...(after.halt !== null && before.halt === null ? [`■ the loop starts no more tasks: ${after.halt}`] : []),
  ]
}

function describeStart(before: Loop, after: Loop): string[] {
  const planned = after.plan.at(-1)
  if (planned !== undefined && planned.session !== null && (before.plan.at(-1)?.session ?? null) === null)
    return [`▸ ${planned.session} writes the plan`]
  if (before.tasks.length > 0 || after.tasks.length === 0) return []
  const wanted = requestedTasks(after)
  const open = wanted.filter(({ state }) => state.name !== 'done').length
  const check = after.spec.check === null ? 'no check' : `check: ${after.spec.check.line} (${after.spec.check.why})`
  return [`${open} of ${wanted.length} tasks to do in ${after.spec.list ?? 'the task tracker'}; ${check}`]
}

function describeTask(before: LoopTask | undefined, task: LoopTask, loop: Loop): string[] {
  const name = `${task.item.label}. ${task.item.title}`
  return [...flawText(before, task), ...stepText(before, task, loop)].map(([sign, text]) => `${sign} ${name}: ${text}`)
}

type Line = readonly [sign: string, text: string]

/** Describes an iteration that failed verification, regardless of the next step. */
function flawText(before: LoopTask | undefined, { tries }: LoopTask): Line[] {
  const fresh = tries.filter((one, at) => one.failure !== null && before?.tries[at]?.failure === null)
  return fresh.map((one): Line => ['✗', `${one.failure?.reason ?? ''}${lastOutput(one.failure)}`])
}

/** Returns the last lines of the check's or the agent's output. */
function lastOutput(failure: TaskFailure | null): string {
  const lines = (failure?.detail ?? '').trim().split('\n').slice(-MAX_LINES)
  return lines.join('') === '' ? '' : `\n${lines.map(line => `    ${line}`).join('\n')}`
}

const MAX_LINES = 8

function stepText(before: LoopTask | undefined, task: LoopTask, loop: Loop): Line[] {
  const { state, tries } = task
  const last = tries.at(-1)
  if (last !== undefined && last.session !== null && before?.tries.at(-1)?.session !== last.session)
    return [
      [
        '▸',
        `${last.session} ${last.role === 'resolve' ? 'resolves its conflict with merged work' : 'works on it'}, iteration ${last.iteration}`,
      ],
    ]
  const rest = pauseReason(task)
  if (rest !== null && (before === undefined || pauseReason(before) === null)) return [['◔', rest]]
  if (before?.state.name === state.name) return []
  const isTested = taskProof(task) === 'checked'
  if (state.name === 'merging') return [['◌', `${isTested ? 'proven' : 'not tested'}, waits to be merged`]]
  if (state.name === 'done' && tries.length > 0) return [[isTested ? '✔' : '◇', `${state.how}${progress(loop)}`]]
  return state.name === 'blocked' ? [['■', `blocked: ${state.failure.reason}`]] : []
}

function pauseReason({ state }: LoopTask): string | null {
  return state.name === 'working' ? state.rest : null
}

function progress(loop: Loop): string {
  const wanted = requestedTasks(loop)
  const done = wanted.filter(({ state }) => state.name === 'done').length
  return `  (${done} of ${wanted.length})`
}

/** Describes the boxes that the loop opens again, with the reason. */
function describeReopened(before: Loop, after: Loop): string[] {
  const fresh = after.marksToWrite.filter(mark => !mark.isDone && !before.marksToWrite.includes(mark))
  return fresh.map(({ key, reason }) => {
    const task = after.tasks.find(({ item }) => item.key === key)
    return `☐ ${task?.item.label}. ${task?.item.title}: the loop opens its box again: ${reason}`
  })
}

function describeConcurrency(before: Loop, after: Loop): string[] {
  if (before.concurrency === after.concurrency) return []
  return [
    after.concurrency < before.concurrency
      ? `fewer agents at a time after a usage limit: ${after.concurrency}`
      : `more agents at a time again: ${after.concurrency}`,
  ]
}
