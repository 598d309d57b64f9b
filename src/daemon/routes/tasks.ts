import { LOOP_KINDS } from '../../api/contract/known-agents.ts'
import { shownName } from '../../api/contract/shown-name.ts'
import { refusal } from '../../api/contract/problems.ts'
import { parseTasksRequest, type TasksRequest } from '../../api/contract/requests.ts'
import type { TaskView } from '../../api/contract/responses.ts'
import { MAX_TASKS } from '../../core/session/reactions/tasks.ts'
import type { Session } from '../../core/session/session-state.ts'
import { type Issue, isIssueId, type TrackerSnapshot } from '../../core/session/tasks-and-tracker-issues.ts'
import { didYouMean } from '../../lib/text/did-you-mean.ts'
import type { Refusal } from '../../lib/errors.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import { readTrackerFile } from '../../state/tracker-file.ts'
import { toTaskViews } from '../../views/tasks.ts'
import { describeList } from '../refuse-conflicting-loop.ts'
import { loadSession, type RouteContext, type Routes, sessionRoute, type SessionRouteCall } from './route.ts'

export const TASK_ROUTES: Routes = {
  'POST /v1/sessions/:id/tasks': sessionRoute({
    parse: parseTasksRequest,
    handle: updateTasks,
    full: 'own',
    confined: 'own',
  }),
}

async function updateTasks(
  context: RouteContext,
  { body: request, id }: SessionRouteCall<TasksRequest>,
): Promise<TaskView[]> {
  assertNoLoop(loadSession(context, id))
  const tracked = readTrackerFile(context.home, id)
  await context.engine.setTasks(id, session => resolveTasks(request, session, tracked))
  return toTaskViews(loadSession(context, id), tracked)
}

/** Returns the task changes that a request describes. Refuses unknown tasks. */
function resolveTasks(request: TasksRequest, session: Session, tracked: TrackerSnapshot | null): Issue[] {
  if (request.action !== 'add') {
    const { action: state, ids } = request
    return ids.map(id => ({ ...findTask(id, session, tracked), state }))
  }
  const first = nextTaskNumber(session)
  const added = request.titles.map(
    (title, n): Issue => ({ id: `u${first + n}`, title: toOneLine(title), state: 'open' }),
  )
  if (added.some(({ title }) => title === '')) throw refusal('usage', 'a task needs a title')
  if (session.tasks.length + added.length > MAX_TASKS)
    throw refusal(
      'too-many-tasks',
      `${shownName(session.spec)} has ${session.tasks.length} tasks, of ${MAX_TASKS} at most`,
    )
  return added
}

/** Refuses tasks for a loop: nobody would work on a task outside its list. */
function assertNoLoop({ spec }: Session): void {
  if (!LOOP_KINDS.includes(spec.agent)) return
  throw refusal(
    'usage',
    `${shownName(spec)} is a loop: its tasks are those of ${describeList(spec)}`,
    `change them there; oneshot ralph status ${shownName(spec)} shows how they stand`,
  )
}

/**
 * Finds a task by id. An id outside the list may be an issue: a ready one, or any issue if the project has a tracker.
 */
function findTask(id: string, { tasks, spec }: Session, tracked: TrackerSnapshot | null): Pick<Issue, 'id' | 'title'> {
  const known = [...tasks, ...(tracked?.ready ?? [])].find(task => task.id === id)
  if (known !== undefined) return { id, title: known.title }
  if (tracked !== null && isIssueId(id)) return { id, title: id }
  throw refuseUnknownTask(
    id,
    tasks.map(task => task.id),
    shownName(spec),
  )
}

function refuseUnknownTask(id: string, known: readonly string[], name: string): Refusal {
  const suggestion = didYouMean(id, known)
  const hint = suggestion === undefined ? `oneshot tasks ${name}` : `did you mean ${suggestion}?`
  return refusal('no-task', `${name} has no task ${JSON.stringify(id)}`, hint)
}

/**
 * Returns the next number for a user's task. Users' ids begin with `u`, because agents' tasks have plain numbers or
 * letters.
 */
function nextTaskNumber({ tasks }: Session): number {
  const numbers = tasks.map(({ id }) => Number(/^u(\d+)$/.exec(id)?.[1] ?? 0))
  return Math.max(0, ...numbers) + 1
}
