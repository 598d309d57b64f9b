import type { GroundView, ListView } from '../../api/contract/loop-view.ts'
import type { RunRequest } from '../../api/contract/requests.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import type { Line } from '../line/line.ts'
import type { Paint } from '../screen/paint.ts'
import { OPTIONS } from '../table/options.ts'

export interface Intent {
  /** Null where it is still to be planned. */
  readonly list: ListView | null
  /** Where that will be. */
  readonly file: string
  readonly check: GroundView['check']
  readonly ground: GroundView
  /** Whom those who work are like. */
  readonly worker: RunRequest
}

/** What a loop is about to do, a line each. */
export function intentLines(intent: Intent, line: Line, paint: Paint): string[] {
  const { list, file, worker, ground } = intent
  const facts: [string, string][] = [
    ['list', list === null ? `${file}, which is planned first` : listText(list, line)],
    ...(list?.objections ?? []).map((text): [string, string] => ['', oneLine(text)]),
    ['check', checkText(intent, line)],
    ['agent', agentText(worker)],
    ['where', placeText(ground, line)],
  ]
  const notes = (ground.unmatched ?? []).map(
    pattern => `${paint.yellow('note:')} no file matches ${oneLine(pattern)} so far; it counts for files to come`,
  )
  return [...facts.map(([label, text]) => `  ${paint.dim(label.padEnd(7))} ${text}`), ...notes]
}

function listText({ file, tasks }: ListView, line: Line): string {
  const only = line.value(OPTIONS.task)
  const name = file ?? 'beads'
  const open = tasks.filter(({ isDone }) => !isDone)
  if (only !== undefined) return `${name}, task ${only}: ${oneLine(tasks.find(({ id }) => id === only)?.title ?? '')}`
  const many = open.length === 1 ? '1 task is open' : `${open.length} tasks are open`
  const done = tasks.length - open.length
  return `${name}: ${many}${done === 0 ? '' : `, ${done} done`}`
}

function checkText({ check, worker }: Intent, line: Line): string {
  const isFull = (worker.autonomy ?? 'full') === 'full'
  if (check !== null) {
    const off = line.has(OPTIONS.verify) ? '' : '; --verify LINE for another, --no-verify for none'
    return `${check.line} (${check.why}${off})`
  }
  return line.has(OPTIONS.noVerify)
    ? 'none, as you asked: a task counts as done when it changes files'
    : `none was found: a task counts as done when it changes files${isFull ? ', until the project has tests' : ''}; --verify LINE names one`
}

function agentText({ agent, model, autonomy }: RunRequest): string {
  return [agent, model, autonomy === 'full' ? 'full autonomy' : `autonomy ${autonomy}`].filter(Boolean).join(', ')
}

function placeText({ repository }: GroundView, line: Line): string {
  const current = repository?.branch ?? null
  const branch = current === null ? '' : `, on ${current}`
  const width = line.value(OPTIONS.parallel)
  if (width === undefined) return `in this folder${branch}, one task after the other`
  const landing = line.has(OPTIONS.land) ? 'and lands here when all is done' : 'until you say: oneshot ralph land'
  return `up to ${width} at a time, each in a worktree of its own; finished tasks are merged into the branch of the loop, ${landing}`
}
