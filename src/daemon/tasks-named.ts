import { LOOP_KINDS } from '../api/contract/agent-kinds.ts'
import { refusal } from '../api/contract/problems.ts'
import type { TasksRequest } from '../api/contract/requests.ts'
import { MOST_TASKS } from '../core/planning.ts'
import type { Session } from '../core/session.ts'
import { type Issue, isIssueId, type Tracked } from '../core/tracked.ts'
import { nearest } from '../lib/nearest.ts'
import type { Refusal } from '../lib/refusal.ts'
import { oneLine } from '../lib/terminal-text.ts'
import { listNamed } from './list-of.ts'

/** What a request means for a session's tasks. Refuses what names none of them. */
export function tasksNamed(request: TasksRequest, session: Session, tracked: Tracked | null): Issue[] {
  if (request.action !== 'add') {
    const { action: state, ids } = request
    return ids.map(id => ({ ...taskOf(id, session, tracked), state }))
  }
  const first = nextNumber(session)
  const added = request.titles.map((title, n): Issue => ({ id: `u${first + n}`, title: oneLine(title), state: 'open' }))
  if (added.some(({ title }) => title === '')) throw refusal('usage', 'a task needs a title')
  if (session.tasks.length + added.length > MOST_TASKS)
    throw refusal('too-many-tasks', `${session.spec.name} has ${session.tasks.length} tasks, of ${MOST_TASKS} at most`)
  return added
}

/** Whatever is added to a loop beside its list, nobody would work on. */
export function assertOwnTasks({ spec }: Session): void {
  if (!LOOP_KINDS.includes(spec.agent)) return
  throw refusal(
    'usage',
    `${spec.name} is a loop: its tasks are those of ${listNamed(spec)}`,
    `change them there; oneshot ralph status ${spec.name} shows how they stand`,
  )
}

/** What is not in the list may be an issue: one that is ready, or any by its id where the project has a tracker. */
function taskOf(id: string, { tasks, spec }: Session, tracked: Tracked | null): Pick<Issue, 'id' | 'title'> {
  const known = [...tasks, ...(tracked?.ready ?? [])].find(task => task.id === id)
  if (known !== undefined) return { id, title: known.title }
  if (tracked !== null && isIssueId(id)) return { id, title: id }
  throw unknown(
    id,
    tasks.map(task => task.id),
    spec.name,
  )
}

function unknown(id: string, known: readonly string[], name: string): Refusal {
  const meant = nearest(id, known)
  const hint = meant === undefined ? `oneshot tasks ${name}` : `did you mean ${meant}?`
  return refusal('no-task', `${name} has no task ${JSON.stringify(id)}`, hint)
}

/** An agent's tasks have plain numbers or letters: those of people are told apart by a `u`. */
function nextNumber({ tasks }: Session): number {
  const numbers = tasks.map(({ id }) => Number(/^u(\d+)$/.exec(id)?.[1] ?? 0))
  return Math.max(0, ...numbers) + 1
}
