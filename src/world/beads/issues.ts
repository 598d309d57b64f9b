import type { Task } from '../../core/task.ts'
import type { Issue } from '../../core/tracked.ts'
import { isUsableId } from '../../core/tracked.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import { Trouble } from '../../lib/trouble.ts'

const LONGEST_TITLE = 300

/** The issues in what bd prints. Titles are anybody's text; what has no usable id is left out. */
export function issuesIn(answer: unknown): Issue[] {
  if (answer === null || answer === undefined) return []
  if (!Array.isArray(answer)) throw new Trouble('reading issues of bd', 'its answer is not a list')
  return answer.flatMap((item: unknown) => issueIn(item) ?? [])
}

function issueIn(item: unknown): Issue | undefined {
  if (typeof item !== 'object' || item === null) return undefined
  const { id, title, status } = item as Readonly<Record<string, unknown>>
  if (typeof id !== 'string' || !isUsableId(id)) return undefined
  const text = typeof title === 'string' ? oneLine(title).slice(0, LONGEST_TITLE) : ''
  return { id, title: text, state: STATES.get(status) ?? 'open' }
}

const STATES: ReadonlyMap<unknown, Task['state']> = new Map([
  ['in_progress', 'doing'],
  ['closed', 'done'],
  ['tombstone', 'done'],
])

/** bd 1.0 shows one issue as a list of one; others have shown it alone. */
export function asList(answer: unknown): unknown {
  const isIssue = typeof answer === 'object' && answer !== null && 'id' in answer
  return isIssue ? [answer] : answer
}
