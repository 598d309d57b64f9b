import type { Refusal } from '../../lib/errors.ts'
import type { SessionView } from './responses.ts'
import type { LoopSpec } from '../../core/loop/spec.ts'

/** A loop as every front shows it. Times are ISO 8601, durations seconds. Fields are added, never renamed or removed. */
export interface LoopView {
  /** Of its session. */
  readonly name: string
  readonly id: string
  readonly cwd: string
  readonly phase: SessionView['phase']
  readonly outcome: SessionView['outcome']
  readonly reason: string | null
  /** `planning`: the list is being made. `review`: it is, and a person looks at it. */
  readonly stage: 'beginning' | 'planning' | 'review' | 'working' | 'landing' | 'ended'
  /** The file; null for the project's task tracker. */
  readonly list: string | null
  /** What must pass for a task to be done, and why it is this; null when nothing is run. */
  readonly check: { readonly line: string; readonly why: string } | null
  /** Who works. */
  readonly agent: string
  /** How many may be at work at a time, and how many for now; null where one after the other works right here. */
  readonly parallel: number | null
  readonly width: number
  /** Where they are limited, those since a person last asked to go on. */
  readonly iterations: number
  readonly maxIterations: number | null
  /** Where merged work is kept; null where it happens right here. */
  readonly branch: string | null
  readonly landedAt: string | null
  /** `starting`, `resting` and `working` are all at work. */
  readonly counts: Readonly<Record<LoopTaskState, number>>
  readonly spent: SessionView['spent']
  readonly createdAt: string
  readonly endedAt: string | null
  /** An estimate by the tasks that are done; null while it would be a guess, and when nothing goes on. */
  readonly secondsLeft: number | null
  readonly tasks: readonly LoopTaskView[]
  /** What is wrong beside the tasks, one sentence each. */
  readonly notes: readonly string[]
  /** The one command that comes next; null when there is nothing to do. */
  readonly next: string | null
  /** Another that makes sense now: what is merged may land before all is done. */
  readonly also: string | null
}

/**
 * `open`: not begun, or to be tried again. `starting`: its agent is being started. `working`, `resting` (for a limit), `checking` (its work is looked at), `merging`: at work.
 * `paused`: it was, and the loop does not run. `blocked`: set aside for a person.
 */
export const LOOP_TASK_STATES = [
  'done',
  'starting',
  'working',
  'resting',
  'checking',
  'merging',
  'paused',
  'open',
  'blocked',
] as const

export type LoopTaskState = (typeof LOOP_TASK_STATES)[number]

export interface LoopTaskView {
  /** Its place in the list, or the tracker's id. */
  readonly id: string
  readonly title: string
  readonly state: LoopTaskState
  readonly tries: number
  /** What shows that it is done, or why it is not; null where there is nothing to tell. */
  readonly evidence: string | null
  /**
   * Of a task that is done or being merged. `checked`: its check passed. `changed`: files changed, and no check passed. Null: neither, as for
   * a box that somebody ticked.
   */
  readonly proof: 'checked' | 'changed' | null
  /** The author of a task that was added while the loop ran, such as `the agent of task 2`; null for all others. */
  readonly addedBy: string | null
  /** The session of its last iteration. */
  readonly session: string | null
  /** Where the work on it is; null where that is right here, or is merged and cleared away. */
  readonly branch: string | null
  /** Null where the agent does not tell it. */
  readonly costUsd: number | null
  /** Worked on, checks and merges included. */
  readonly seconds: number
  /** The ids of the tasks that come before it. */
  readonly after: readonly string[]
}

/** What a loop would find where it is asked for; the refusal says what was looked for in vain. */
export interface PreflightView {
  /** Null where there is no git repository. */
  readonly repository: { readonly branch: string | null; readonly hasCommit: boolean; readonly isClean: boolean } | null
  readonly list: ListView | Refusal
  /** What the project is tested with; null when that could not be told. */
  readonly check: { readonly line: string; readonly why: string } | null
  /** Patterns of paths to protect or to allow that match no file so far. */
  readonly unmatched?: readonly string[]
}

export interface ListView {
  /** Relative to the folder; null for the project's task tracker. */
  readonly file: string | null
  readonly tasks: readonly { readonly id: string; readonly title: string; readonly isDone: boolean }[]
  /** What is wrong with it, one sentence each. */
  readonly objections: readonly string[]
}

/** A task that was opened again. */
export interface RetriedView {
  readonly name: string
  readonly task: { readonly id: string; readonly title: string }
  /** The branch with what was made of it before, which is not gone on with; null where there is none. */
  readonly left: string | null
}

/** What was brought into the user's checkout. */
export interface LandedView {
  readonly name: string
  readonly branch: string
  /** What it was brought into; null where no branch is checked out. */
  readonly into: string | null
  readonly commit: string
  /** The branch was only moved on; else there is a merge. */
  readonly isForward: boolean
  /** False when all of it had been there before. */
  readonly isNews: boolean
  readonly tasks: readonly { readonly id: string; readonly title: string }[]
  /** Boxes that were ticked now. */
  readonly marked: number
  /** Why its worktree is still there; null when it is gone. */
  readonly kept: string | null
  /** Nothing was done: it is told what would be. */
  readonly isDryRun: boolean
}

/** What a loop is asked for: the one argument of its program, as JSON. */
export type LoopRequest = LoopSpec
