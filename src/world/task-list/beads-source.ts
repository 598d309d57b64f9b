import type { ListItem, TaskList, ItemMark } from '../../core/loop/list/task-list.ts'
import { Trouble } from '../../lib/errors.ts'
import type { TaskSource } from '../../ports/task-source.ts'
import type { TrackerContext } from '../../ports/tracker.ts'
import { closeIssue, reopenIssue, readIssue } from '../tracker/issues.ts'
import { readOpenIssues, type OpenIssue } from '../tracker/issues.ts'

/**
 * Lists the open issues of a project's beads. bd decides which are ready; the others wait for the issues that bd names.
 */
export function beadsTaskSource(env: TrackerContext['env']): TaskSource {
  return {
    kind: 'beads',
    file: null,
    exists: () => true,
    readText: () => '',
    read: async (cwd, ending) => toItemList(await readOpenIssues({ cwd, env }, ending)),
    mark: async (cwd, marks, ending) => {
      for (const mark of marks) await markIssue({ cwd, env }, mark, ending)
    },
  }
}

/** An epic is not a task: it groups other issues. */
function toItemList(issues: readonly OpenIssue[]): TaskList {
  const known = new Map(issues.map(issue => [issue.id, issue]))
  const tasks = issues.filter(({ isEpic }) => !isEpic)
  const objections: string[] = []
  const items = tasks.flatMap((issue): ListItem[] => {
    const after = issue.isReady ? [] : findBlockers(issue, known, tasks)
    if (issue.isReady || after.length > 0) return [toItem(issue, known, after)]
    objections.push(
      `${issue.id} (${issue.title}) is not ready, and bd names no open issue that it waits for: the loop skips it until it is ready`,
    )
    return []
  })
  return {
    items,
    objections: items.length > 0 ? objections : ['beads has no open issues: make one with bd create', ...objections],
  }
}

function toItem(issue: OpenIssue, known: ReadonlyMap<string, OpenIssue>, after: readonly string[]): ListItem {
  const { id, title, description } = issue
  const path = ancestors(issue, known).map(({ title }) => title)
  return { key: id, label: id, title, path: path.reverse(), body: description, isDone: false, after }
}

/** A blocker of an issue blocks all its parts; an epic is done when all its parts are done. */
function findBlockers(issue: OpenIssue, known: ReadonlyMap<string, OpenIssue>, tasks: readonly OpenIssue[]): string[] {
  const above = ancestors(issue, known)
  const blockers = [issue, ...above].flatMap(({ blockers }) => blockers)
  const isMeant = (task: OpenIssue): boolean =>
    [task, ...ancestors(task, known)].some(({ id }) => blockers.includes(id) && !above.some(other => other.id === id))
  return tasks.filter(task => task.id !== issue.id && isMeant(task)).map(({ id }) => id)
}

/** Returns the parents of an issue, innermost first. */
function ancestors({ parent }: OpenIssue, known: ReadonlyMap<string, OpenIssue>): OpenIssue[] {
  const way: OpenIssue[] = []
  for (let next = known.get(parent ?? ''); next !== undefined && !way.includes(next); ) {
    way.push(next)
    next = known.get(next.parent ?? '')
  }
  return way
}

/** An issue in progress counts as open. */
async function markIssue(place: TrackerContext, { key, isDone, reason }: ItemMark, ending: AbortSignal): Promise<void> {
  const issue = await findIssue(place, key, ending)
  if (issue === null || (issue.state === 'done') === isDone) return
  if (isDone) await closeIssue(place, key, reason, ending)
  else await reopenIssue(place, key, reason, ending)
}

/** bd fails if the issue does not exist, and also for other reasons. */
async function findIssue(place: TrackerContext, id: string, ending: AbortSignal) {
  try {
    return await readIssue(place, id, ending)
  } catch (cause) {
    if (cause instanceof Trouble && /no issue|not found/i.test(cause.message)) return null
    throw cause
  }
}
