import type { TaskView } from '../api/contract/responses.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import type { Session } from '../core/session/session-state.ts'
import { finishedIssues, type TrackerSnapshot } from '../core/session/tasks-and-tracker-issues.ts'
import { type Home, homeExists } from '../state/home.ts'
import { readTrackerFile } from '../state/tracker-file.ts'
import { readStoredSession } from '../world/store/reader.ts'

/** Reads the tasks of a session from disk alone. */
export function readTasks(home: Home, id: SessionId): TaskView[] {
  const session = homeExists(home) ? readStoredSession(home, id) : undefined
  return session === undefined ? [] : toTaskViews(session, readTrackerFile(home, id))
}

/**
 * Returns tasks in progress first, then open ones, then finished ones. Adds the tracker's ready issues, except those
 * that are in the list already or that the sync will close.
 */
export function toTaskViews({ tasks }: Session, tracked: TrackerSnapshot | null): TaskView[] {
  const finished = tracked === null ? [] : finishedIssues(tasks, tracked)
  const isNew = (id: string): boolean => !tasks.some(task => task.id === id) && !finished.includes(id)
  const issues = (tracked?.ready ?? []).filter(({ id }) => isNew(id))
  const all: TaskView[] = [...tasks, ...issues.map(issue => ({ ...issue, source: tracked?.kind ?? 'beads' }))]
  return all
    .toSorted((a, b) => STATE_ORDER.indexOf(a.state) - STATE_ORDER.indexOf(b.state))
    .map(({ id, title, state, source }) => ({ id, title, state, source }))
}

const STATE_ORDER: readonly TaskView['state'][] = ['doing', 'open', 'done']
