import crypto from 'node:crypto'
import type { Task } from '../../core/task.ts'
import type { Tracked } from '../../core/tracked.ts'
import { type Instant, iso } from '../../lib/time.ts'
import { inCell, inLine } from './material.ts'

/** What is left to do, as far as anybody has said it. */
export interface TaskState {
  readonly name: string
  readonly tasks: readonly Task[]
  readonly tracker: Tracked | null
}

/** LAST_STATE.md: the tasks of a session and of its tracker, and a hash by which a change is seen. */
export function lastStatePage(state: TaskState, changedAt: Instant): string {
  const { name, tasks, tracker } = state
  const open = tasks.filter(task => task.state !== 'done').length
  return [
    `# Tasks of ${name}`,
    '',
    `- state: sha256 ${hashOf(state)}`,
    `- changed: ${iso(changedAt)}`,
    `- tasks: ${tasks.length === 0 ? 'none named' : `${open} open of ${tasks.length}`}`,
    '',
    ...(tasks.length === 0 ? [] : [...table(tasks), '']),
    ...(tracker === null ? [] : trackerPart(tracker)),
    '```sh',
    `oneshot tasks ${name}`,
    '```',
    '',
  ].join('\n')
}

/** The same for the same tasks in the same states, whoever asks and whenever. */
export function hashOf({ tasks, tracker }: TaskState): string {
  const own = tasks.map(({ id, title, state, source }) => [source, id, state, title])
  const theirs =
    tracker === null
      ? null
      : [tracker.kind, tracker.hash, tracker.ready.map(({ id, state, title }) => [id, state, title])]
  return crypto.createHash('sha256').update(JSON.stringify({ own, theirs })).digest('hex')
}

function table(tasks: readonly Task[]): string[] {
  const rows = tasks.map(
    ({ id, state, title, source }) => `| ${inCell(id)} | ${state} | ${inCell(title)} | ${source} |`,
  )
  return ['| task | state | title | named by |', '|---|---|---|---|', ...rows]
}

const MOST_ISSUES = 200

function trackerPart({ kind, version, at, hash, ready }: Tracked): string[] {
  const rows = ready
    .slice(0, MOST_ISSUES)
    .map(({ id, state, title }) => `| ${inCell(id)} | ${inCell(state)} | ${inCell(title)} |`)
  const tasks = rows.length === 0 ? ['Nothing is ready.'] : ['| ready | state | title |', '|---|---|---|', ...rows]
  return [
    `## ${inLine(kind)} ${inLine(version)}`,
    '',
    `As of ${iso(at)}, its state was ${inLine(hash)}.`,
    '',
    ...tasks,
    '',
  ]
}
