import type { Duration } from '../../lib/time.ts'
import type { CheckpointOptions } from '../checkpoint/checkpoint.ts'
import type { WaitLimits, RestartPolicy } from '../session/session.ts'

/** What was asked of a loop. It never changes. */
export interface LoopSpec {
  /** The list of tasks, relative to where the loop was asked for; null for the project's task tracker. */
  readonly list: string | null
  /** Who works on them: as for `run`. */
  readonly worker: WorkerOptions
  /** What a project must pass for a task to be done: a line for a shell, and why it is this one. Null: nothing is run. */
  readonly check: { readonly line: string; readonly why: string } | null
  readonly checkLimit: Duration
  /** Without a check: look again each time, because the project may have got tests meanwhile. */
  readonly seek?: true
  /** Patterns of paths, from where the loop was asked for: nobody may change the first, and the second may be weakened. */
  readonly guard?: { readonly protect: readonly string[]; readonly allow: readonly string[] }
  /** A line for a shell that makes a fresh worktree ready to work in. */
  readonly setup: string | null
  /** How many tasks are worked on at a time, each in a worktree of its own; null: one after the other, right here. */
  readonly parallel: number | null
  /** Between two starts. */
  readonly stagger: Duration
  /** Iterations in all; null for no limit. */
  readonly maxIterations: number | null
  /** So many tasks that agents add to the list are begun before a person resumes the loop. Absent: the usual. */
  readonly maxAdded?: number
  /** The same failure this often in a row blocks a task. */
  readonly retries: number
  /** Only the task with this label. */
  readonly only: string | null
  /** Bring it all into the user's branch at the end. */
  readonly land: boolean
  /** Plan first what is to be done for an idea, which is the session's prompt. */
  readonly plan: PlanMode
}

/** `none`: the list is there. `only`: no more than the plan is wanted. `first`: a person looks at it before it is gone on. */
export type PlanMode = 'none' | 'only' | 'first' | 'on'

export interface WorkerOptions {
  readonly agent: string
  readonly argv: readonly string[]
  readonly model: string | null
  readonly effort: string | null
  readonly autonomy: 'full' | 'edits' | 'ask'
  /** For each iteration; null for no limit. */
  readonly maxTime: Duration | null
  readonly limits: { readonly usd: number | null; readonly tokens: number | null; readonly turns: number | null }
  /** How it is seen through. Absent, in whole or in part: the usual. */
  readonly care?: {
    readonly restart?: Partial<RestartPolicy>
    readonly patience?: Partial<WaitLimits>
    readonly memory?: number
    /** Null for no limit. */
    readonly maxOutput?: number | null
    readonly saving?: Partial<CheckpointOptions>
    readonly alertAfter?: number
    readonly beads?: boolean
  }
}
