import type { SessionId } from '../core/session/session-id-and-name.ts'
import type { Issue, TrackerSnapshot } from '../core/session/tasks-and-tracker-issues.ts'

/**
 * The folder and the saved environment of a session. The tracker finds its programs in this environment, not in ours.
 */
export interface TrackerContext {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/**
 * The task tracker that a project keeps beside its code. The abort signal ends a call with all processes it started.
 * Every failure of the tracker throws `Trouble`: no work depends on the tracker.
 */
export interface Tracker {
  /** The tracker's common name. */
  readonly kind: TrackerSnapshot['kind']
  /** Returns the folder whose list this place belongs to, or null. The list may exist although its program does not. */
  findRoot(place: TrackerContext): string | null
  /** Returns the version of the tracker's program. */
  version(place: TrackerContext, abortSignal: AbortSignal): Promise<string>
  /**
   * Makes the tracker write its state to its own files. Never touches the user's git state. A repeated call changes
   * nothing.
   */
  sync(place: TrackerContext, abortSignal: AbortSignal): Promise<void>
  /** Returns the issues that are ready or in progress; those in progress come first. */
  readyIssues(place: TrackerContext, abortSignal: AbortSignal): Promise<Issue[]>
  /** Returns an issue in any state; null if no issue has this id. */
  findIssue(place: TrackerContext, id: string, abortSignal: AbortSignal): Promise<Issue | null>
  /** Closes an issue. A closed issue stays as it is. */
  closeIssue(place: TrackerContext, id: string, reason: string, abortSignal: AbortSignal): Promise<void>
  /** Returns the last snapshot of the tracker for a session; null before the first one. */
  loadSnapshot(sessionId: SessionId): TrackerSnapshot | null
  /** Writes the snapshot in one step, beside the session's other files. */
  saveSnapshot(sessionId: SessionId, snapshot: Omit<TrackerSnapshot, 'kind' | 'hash'>): void
}
