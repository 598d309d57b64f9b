import type { Issue, TrackerSnapshot } from '../core/session/task.ts'

/** Where a session works, and the environment that was saved with it: its programs are found there, not in ours. */
export interface TrackerContext {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/**
 * The task tracker that a project keeps beside its code. Every call to it ends when its signal comes, with all that it has
 * started. Whatever is wrong with the tracker is thrown as `Trouble`: nobody's work depends on it.
 */
export interface Tracker {
  /** What people call it. */
  readonly kind: TrackerSnapshot['kind']
  /** The folder whose list this place belongs to; null where none is kept. The list may be there and its program not. */
  findRoot(place: TrackerContext): string | null
  /** Which one it is. */
  version(place: TrackerContext, abortSignal: AbortSignal): Promise<string>
  /** Has it bring what it knows to where it belongs. Nothing of the user's git is touched. Repeating it changes nothing. */
  sync(place: TrackerContext, abortSignal: AbortSignal): Promise<void>
  /** What can be worked on, and what somebody is at; that comes first. */
  readyIssues(place: TrackerContext, abortSignal: AbortSignal): Promise<Issue[]>
  /** One issue, whatever state it is in; null when there is none by that id. */
  findIssue(place: TrackerContext, id: string, abortSignal: AbortSignal): Promise<Issue | null>
  /** Closes an issue. One that is closed already stays as it is. */
  closeIssue(place: TrackerContext, id: string, reason: string, abortSignal: AbortSignal): Promise<void>
  /** What was last written down about it for a session; null before the first time. */
  loadSnapshot(sessionId: string): TrackerSnapshot | null
  /** Writes it down, in one step, beside the session's other files. */
  saveSnapshot(sessionId: string, snapshot: Omit<TrackerSnapshot, 'kind' | 'hash'>): void
}
