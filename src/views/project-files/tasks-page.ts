import crypto from 'node:crypto'
import type { Task } from '../../core/session/tasks-and-tracker-issues.ts'
import type { TrackerSnapshot } from '../../core/session/tasks-and-tracker-issues.ts'
import { type Instant, formatIso } from '../../lib/time.ts'
import { toCell, toLine } from './page-input.ts'

/** The known tasks of a session and its tracker. */
export interface TaskSnapshot {
  readonly name: string
  readonly tasks: readonly Task[]
  readonly tracker: TrackerSnapshot | null
}

/** Renders LAST_STATE.md: the tasks of a session and of its tracker, and a hash that reveals a change. */
export function renderLastState(snapshot: TaskSnapshot, changedAt: Instant): string {
  const { name, tasks, tracker } = snapshot
  const open = tasks.filter(task => task.state !== 'done').length
  return [
    `# Tasks of ${name}`,
    '',
    `- state: sha256 ${hashTasks(snapshot)}`,
    `- changed: ${formatIso(changedAt)}`,
    `- tasks: ${tasks.length === 0 ? 'none named' : `${open} open of ${tasks.length}`}`,
    '',
    ...(tasks.length === 0 ? [] : [...renderTable(tasks), '']),
    ...(tracker === null ? [] : renderTracker(tracker)),
    '```sh',
    `oneshot tasks ${name}`,
    '```',
    '',
  ].join('\n')
}

/** Returns the same hash for the same tasks in the same states, at any time. */
export function hashTasks({ tasks, tracker }: TaskSnapshot): string {
  const ownTasks = tasks.map(({ id, title, state, source }) => [source, id, state, title])
  const trackerTasks =
    tracker === null
      ? null
      : [tracker.kind, tracker.hash, tracker.ready.map(({ id, state, title }) => [id, state, title])]
  return crypto
    .createHash('sha256')
    .update(JSON.stringify({ own: ownTasks, theirs: trackerTasks }))
    .digest('hex')
}

function renderTable(tasks: readonly Task[]): string[] {
  const rows = tasks.map(
    ({ id, state, title, source }) => `| ${toCell(id)} | ${state} | ${toCell(title)} | ${source} |`,
  )
  return ['| task | state | title | named by |', '|---|---|---|---|', ...rows]
}

const MAX_ISSUES = 200

function renderTracker({ kind, version, at, hash, ready }: TrackerSnapshot): string[] {
  const rows = ready
    .slice(0, MAX_ISSUES)
    .map(({ id, state, title }) => `| ${toCell(id)} | ${toCell(state)} | ${toCell(title)} |`)
  const tasks = rows.length === 0 ? ['Nothing is ready.'] : ['| ready | state | title |', '|---|---|---|', ...rows]
  return [
    `## ${toLine(kind)} ${toLine(version)}`,
    '',
    `As of ${formatIso(at)}, its state was ${toLine(hash)}.`,
    '',
    ...tasks,
    '',
  ]
}
