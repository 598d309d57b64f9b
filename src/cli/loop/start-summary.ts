import type { PreflightView, ListView } from '../../api/contract/loop-view.ts'
import type { RunRequest } from '../../api/contract/run-request.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import type { Paint } from '../terminal/colors.ts'
import { OPTIONS } from '../args/options.ts'

export interface LoopSummary {
  /** Null if the loop still has to plan it. */
  readonly list: ListView | null
  /** The path of the list. */
  readonly file: string
  readonly check: PreflightView['check']
  readonly project: PreflightView
  /** The template of the workers' requests. */
  readonly worker: RunRequest
}

/** Describes the planned work of a loop in several lines. */
export function summaryLines(summary: LoopSummary, args: ParsedArgs, paint: Paint): string[] {
  const { list, file, worker, project } = summary
  const entries: [string, string][] = [
    ['list', list === null ? `${file}, which is planned first` : listText(list, args)],
    ...(list?.objections ?? []).map((text): [string, string] => ['', toOneLine(text)]),
    ['check', checkText(summary, args)],
    ['agent', agentText(worker)],
    ['where', locationText(project, args)],
  ]
  const notes = (project.unmatched ?? []).map(
    pattern => `${paint.yellow('note:')} no file matches ${toOneLine(pattern)} so far; it counts for files to come`,
  )
  return [...entries.map(([label, text]) => `  ${paint.dim(label.padEnd(7))} ${text}`), ...notes]
}

function listText({ file, tasks }: ListView, args: ParsedArgs): string {
  const onlyTask = args.value(OPTIONS.task)
  const name = file ?? 'beads'
  const open = tasks.filter(({ isDone }) => !isDone)
  if (onlyTask !== undefined)
    return `${name}, task ${onlyTask}: ${toOneLine(tasks.find(({ id }) => id === onlyTask)?.title ?? '')}`
  const many = open.length === 1 ? '1 task is open' : `${open.length} tasks are open`
  const done = tasks.length - open.length
  return `${name}: ${many}${done === 0 ? '' : `, ${done} done`}`
}

function checkText({ check, worker }: LoopSummary, args: ParsedArgs): string {
  const isFull = (worker.autonomy ?? 'full') === 'full'
  if (check !== null) {
    const off = args.has(OPTIONS.verify) ? '' : '; --verify LINE for another, --no-verify for none'
    return `${check.line} (${check.why}${off})`
  }
  return args.has(OPTIONS.noVerify)
    ? 'none, as you asked: a task counts as done when it changes files'
    : `none was found: a task counts as done when it changes files${isFull ? ', until the project has tests' : ''}; --verify LINE names one`
}

function agentText({ agent, model, autonomy }: RunRequest): string {
  return [agent, model, autonomy === 'full' ? 'full autonomy' : `autonomy ${autonomy}`].filter(Boolean).join(', ')
}

function locationText({ repository }: PreflightView, args: ParsedArgs): string {
  const current = repository?.branch ?? null
  const branch = current === null ? '' : `, on ${current}`
  const width = args.value(OPTIONS.parallel)
  if (width === undefined) return `in this folder${branch}, one task after the other`
  const landing = args.has(OPTIONS.land) ? 'and lands here when all is done' : 'until you say: oneshot ralph land'
  return `up to ${width} at a time, each in a worktree of its own; finished tasks are merged into the branch of the loop, ${landing}`
}
