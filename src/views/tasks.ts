import type { TaskView } from '../api/contract/session-view.ts'
import type { Session } from '../core/session.ts'
import { finishedIssues, type Tracked } from '../core/tracked.ts'
import { type Home, homeExists } from '../world/os/home.ts'
import { readTracked } from '../world/os/tracker-file.ts'
import { readOne } from '../world/store/read.ts'

/** The pieces of a session's work, from disk alone. */
export function readTasks(home: Home, id: string): TaskView[] {
  const session = homeExists(home) ? readOne(home, id) : undefined
  return session === undefined ? [] : taskViews(session, readTracked(home, id))
}

/**
 * What is under way first, then what is open, then what is done; and what the project's tracker has ready, unless it is in
 * the list already or is about to be closed.
 */
export function taskViews({ tasks }: Session, tracked: Tracked | null): TaskView[] {
  const finished = tracked === null ? [] : finishedIssues(tasks, tracked)
  const isNews = (id: string): boolean => !tasks.some(task => task.id === id) && !finished.includes(id)
  const issues = (tracked?.ready ?? []).filter(({ id }) => isNews(id))
  const all: TaskView[] = [...tasks, ...issues.map(issue => ({ ...issue, source: tracked?.kind ?? 'beads' }))]
  return all
    .toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state))
    .map(({ id, title, state, source }) => ({ id, title, state, source }))
}

const ORDER: readonly TaskView['state'][] = ['doing', 'open', 'done']
