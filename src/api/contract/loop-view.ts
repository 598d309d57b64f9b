import type { Refusal } from '../../lib/errors.ts'
import type { SessionView } from './responses.ts'
import type { LoopSpec } from '../../core/loop/spec.ts'

/**
 * A loop as every client shows it. Times are ISO 8601, durations seconds. New versions add fields, and never rename or
 * remove them.
 */
export interface LoopView {
  /** The name of its session. */
  readonly name: string
  readonly id: string
  readonly cwd: string
  readonly phase: SessionView['phase']
  readonly outcome: SessionView['outcome']
  readonly reason: string | null
  /** `planning`: an agent writes the list. `review`: a person reviews the list. */
  readonly stage: 'beginning' | 'planning' | 'review' | 'working' | 'landing' | 'ended'
  /** The file; null for the project's task tracker. */
  readonly list: string | null
  /** The command that must pass before a task is done, and the reason for its choice; null when the loop runs none. */
  readonly check: { readonly line: string; readonly why: string } | null
  /** The kind of the agents that work. */
  readonly agent: string
  /**
   * The maximum number of agents at a time, and in `width` the current one; null when one agent after the other works
   * in the checkout itself.
   */
  readonly parallel: number | null
  readonly width: number
  /** If the loop has a limit, the iterations since a person last continued it. */
  readonly iterations: number
  readonly maxIterations: number | null
  /** The branch of merged work; null when the agents work in the checkout itself. */
  readonly branch: string | null
  readonly landedAt: string | null
  /** `starting`, `resting` and `working` all count as in progress. */
  readonly counts: Readonly<Record<LoopTaskState, number>>
  readonly spent: SessionView['spent']
  readonly createdAt: string
  readonly endedAt: string | null
  /** An estimate from the finished tasks; null while there is too little evidence, and when the loop does not run. */
  readonly secondsLeft: number | null
  readonly tasks: readonly LoopTaskView[]
  /** Problems beside the tasks, one sentence each. */
  readonly notes: readonly string[]
  /** The next command for the user; null when there is nothing to do. */
  readonly next: string | null
  /** Another useful command: merged work may land before all tasks are done. */
  readonly also: string | null
}

/**
 * `open`: not begun, or waiting for another try. `starting`: the loop starts its agent. In progress are also `working`,
 * `resting` (the agent waits for a limit), `checking` (the loop checks its work) and `merging`. `paused`: in progress,
 * but the loop does not run. `blocked`: the task waits for a person.
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
  /** The position in the list, or the tracker's id. */
  readonly id: string
  readonly title: string
  readonly state: LoopTaskState
  readonly tries: number
  /** The evidence that the task is done, or the reason that it is not; null without either. */
  readonly evidence: string | null
  /**
   * For a task that is done or merging. `checked`: its check passed. `changed`: files changed, and no check passed.
   * Null: neither, as for a box that somebody ticked.
   */
  readonly proof: 'checked' | 'changed' | null
  /** The author of a task that was added while the loop ran, such as `the agent of task 2`; null for all others. */
  readonly addedBy: string | null
  /** The session of its last iteration. */
  readonly session: string | null
  /**
   * The branch of its work; null when the agent works in the checkout itself, or the work is merged and the branch
   * removed.
   */
  readonly branch: string | null
  /** Null when the agent does not report it. */
  readonly costUsd: number | null
  /** Working time, including checks and merges. */
  readonly seconds: number
  /** The ids of the tasks that must come before it. */
  readonly after: readonly string[]
}

/** The findings of a loop's preflight; a refusal says what is missing. */
export interface PreflightView {
  /** Null outside a git repository. */
  readonly repository: { readonly branch: string | null; readonly hasCommit: boolean; readonly isClean: boolean } | null
  readonly list: ListView | Refusal
  /** The project's test command; null when oneshot found none. */
  readonly check: { readonly line: string; readonly why: string } | null
  /** Patterns of protected or allowed paths that match no file so far. */
  readonly unmatched?: readonly string[]
}

export interface ListView {
  /** Relative to the folder; null for the project's task tracker. */
  readonly file: string | null
  readonly tasks: readonly { readonly id: string; readonly title: string; readonly isDone: boolean }[]
  /** Problems of the list, one sentence each. */
  readonly objections: readonly string[]
}

/** A task that the user opened again. */
export interface RetriedView {
  readonly name: string
  readonly task: { readonly id: string; readonly title: string }
  /** The branch of the earlier work, which the next try does not use; null without one. */
  readonly left: string | null
}

/** The result of a landing in the user's checkout. */
export interface LandedView {
  readonly name: string
  readonly branch: string
  /** The branch that received the work; null for a detached HEAD. */
  readonly into: string | null
  readonly commit: string
  /** True for a fast-forward; false for a merge commit. */
  readonly isForward: boolean
  /** False when the branch already contained all of it. */
  readonly isNews: boolean
  readonly tasks: readonly { readonly id: string; readonly title: string }[]
  /** Number of boxes that the landing ticked. */
  readonly marked: number
  /** The reason that its worktree still exists; null after its removal. */
  readonly kept: string | null
  /** True when the command changed nothing, and the view describes what a landing would do. */
  readonly isDryRun: boolean
}

/** The one argument of the loop's program, as JSON. */
export type LoopRequest = LoopSpec
