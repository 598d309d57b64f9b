import type { ListItem, TaskList, ItemMark } from '../../core/loop/list/task-list.ts'
import { Trouble } from '../../lib/errors.ts'
import type { TaskSource } from '../../ports/task-source.ts'
import type { TrackerContext } from '../../ports/tracker.ts'
import { closeIssue, reopenIssue, readIssue } from '../tracker/issues.ts'
import { readOpenIssues, type OpenIssue } from '../tracker/issues.ts'

/** The issues of a project's beads that are not closed. bd decides what is ready; the rest waits for what bd says. */
export function beadsTaskSource(env: TrackerContext['env']): TaskSource {
  return {
    kind: 'beads',
    file: null,
    read: async (cwd, ending) => toItemList(await readOpenIssues({ cwd, env }, ending)),
    mark: async (cwd, marks, ending) => {
      for (const mark of marks) await markIssue({ cwd, env }, mark, ending)
    },
  }
}

/** An epic is no task: it is what others are part of. */
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

/** What stands in the way of an issue stands in the way of all its parts; an epic is done when all of its parts are. */
function findBlockers(issue: OpenIssue, known: ReadonlyMap<string, OpenIssue>, tasks: readonly OpenIssue[]): string[] {
  const above = ancestors(issue, known)
  const blockers = [issue, ...above].flatMap(({ blockers }) => blockers)
  const isMeant = (task: OpenIssue): boolean =>
    [task, ...ancestors(task, known)].some(({ id }) => blockers.includes(id) && !above.some(other => other.id === id))
  return tasks.filter(task => task.id !== issue.id && isMeant(task)).map(({ id }) => id)
}

/** What an issue is part of, innermost first. */
function ancestors({ parent }: OpenIssue, known: ReadonlyMap<string, OpenIssue>): OpenIssue[] {
  const way: OpenIssue[] = []
  for (let next = known.get(parent ?? ''); next !== undefined && !way.includes(next); ) {
    way.push(next)
    next = known.get(next.parent ?? '')
  }
  return way
}

/** An issue that somebody is at is open. */
async function markIssue(place: TrackerContext, { key, isDone, reason }: ItemMark, ending: AbortSignal): Promise<void> {
  const issue = await findIssue(place, key, ending)
  if (issue === null || (issue.state === 'done') === isDone) return
  if (isDone) await closeIssue(place, key, reason, ending)
  else await reopenIssue(place, key, reason, ending)
}

/** bd fails where there is no such issue, as it does for other reasons. */
async function findIssue(place: TrackerContext, id: string, ending: AbortSignal) {
  try {
    return await readIssue(place, id, ending)
  } catch (cause) {
    if (cause instanceof Trouble && /no issue|not found/i.test(cause.message)) return null
    throw cause
  }
}
