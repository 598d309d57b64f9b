import type { Issue, Tracked } from '../core/tracked.ts'

/** Where a session works, and the environment that was saved with it: its programs are found there, not in ours. */
export interface Place {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/**
 * The task tracker that a project keeps beside its code. Every call to it ends when its signal comes, with all that it has
 * started. Whatever is wrong with the tracker is thrown as `Trouble`: nobody's work depends on it.
 */
export interface Tracker {
  /** What people call it. */
  readonly kind: Tracked['kind']
  /** The folder whose list this place belongs to; null where none is kept. The list may be there and its program not. */
  find(place: Place): string | null
  /** Which one it is. */
  version(place: Place, ending: AbortSignal): Promise<string>
  /** Has it bring what it knows to where it belongs. Nothing of the user's git is touched. Repeating it changes nothing. */
  sync(place: Place, ending: AbortSignal): Promise<void>
  /** What can be worked on, and what somebody is at; that comes first. */
  ready(place: Place, ending: AbortSignal): Promise<Issue[]>
  /** One issue, whatever state it is in; null when there is none by that id. */
  show(place: Place, id: string, ending: AbortSignal): Promise<Issue | null>
  /** Closes an issue. One that is closed already stays as it is. */
  close(place: Place, id: string, reason: string, ending: AbortSignal): Promise<void>
  /** What was last written down about it for a session; null before the first time. */
  recall(sessionId: string): Tracked | null
  /** Writes it down, in one step, beside the session's other files. */
  keep(sessionId: string, seen: Omit<Tracked, 'kind' | 'hash'>): void
}
