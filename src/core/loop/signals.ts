import type { Instant } from '../../lib/time.ts'
import type { Usage } from '../session/usage.ts'
import type { ProblemKind } from '../session/failure.ts'
import type { TamperingReport } from '../tampering/detect-tampering.ts'
import type { WorkEvidence } from './work-evidence.ts'
import type { TaskList, ItemMark } from './list/task-list.ts'
import type { Loop, TaskCheckout } from './loop-state.ts'
import type { LostWork } from './lost-work/lost-work.ts'

/** The result of a check. */
export interface CheckRun {
  readonly ok: boolean
  readonly how: string
  readonly tail: string
  /** The number of passed tests; null if unknown. Absent: the end of the output may say it. */
  readonly tests?: number | null
}

/** The end of a worker's session. */
export interface WorkerExit {
  readonly outcome: 'done' | 'failed' | 'stopped' | 'gave-up'
  readonly reason: string
  readonly trouble: ProblemKind | null
  /** The agent's last text. */
  readonly finalOutput: string
  readonly spent: Usage
}

/** The repository state on which the work builds. */
export interface LoopBase {
  /** The integration branch and its tip; null if the work happens in the user's checkout. */
  readonly branch: string | null
  readonly tip: string | null
  readonly tickAt: Loop['tickAt']
  /** Notes for the user, one sentence each. */
  readonly notes: readonly string[]
  /** Finished work that is gone. */
  readonly losses?: readonly LostWork[]
  readonly userChanges?: Loop['userChanges']
  readonly userBranch?: string
}

/**
 * A signal for a loop. `task` is a key, or null for planning; `iteration` distinguishes a late signal from a current
 * one. `loop.loaded`: a program of the loop has started, for the first time or again.
 */
export type LoopSignal = { readonly at: Instant } & (
  | { readonly type: 'loop.loaded'; readonly list: TaskList; readonly base: LoopBase }
  /** There is no list yet, and the loop has to plan one. */
  | { readonly type: 'loop.unplanned' }
  | { readonly type: 'loop.impossible'; readonly reason: string }
  /** A person resumes the loop after it ended. `stoppedAt`: the time of the stop. */
  | { readonly type: 'user.resume'; readonly resumedAt: Instant; readonly stoppedAt: Instant }
  | { readonly type: 'clock.due' }
  | {
      readonly type: 'checkout.ready'
      readonly task: string
      readonly checkout: TaskCheckout
      readonly conflicts: readonly string[]
      /** The work that was lost since the previous iteration. */
      readonly losses?: readonly LostWork[]
      /** The things that oneshot had to create again, one sentence each. */
      readonly notes?: readonly string[]
    }
  | {
      readonly type: 'effect.failed'
      readonly task: string | null
      readonly iteration: number
      readonly reason: string
    }
  | {
      readonly type: 'worker.started'
      readonly task: string | null
      readonly iteration: number
      readonly session: string
    }
  /** The worker rests, or works again: null. */
  | {
      readonly type: 'worker.rests'
      readonly task: string | null
      readonly iteration: number
      readonly rest: { readonly reason: string; readonly isLimit: boolean } | null
    }
  | {
      readonly type: 'worker.ended'
      readonly task: string | null
      readonly iteration: number
      readonly end: WorkerExit
    }
  | {
      readonly type: 'task.verified'
      readonly task: string
      readonly iteration: number
      readonly evidence: WorkEvidence
      /** Null if no check ran. */
      readonly check: CheckRun | null
      /** The list as the worker left it; null if the verifier did not read it, or could not. */
      readonly list: TaskList | null
      /** A change of the list as a whole, in a sentence. */
      readonly listNote?: string | null
      /** The command that restores the list from before the work; null or absent if no task is missing in it. */
      readonly restoreListCommand?: string | null
      /** Git has lost the state from before the work. */
      readonly isBaselineLost?: true
      /** Files with an unresolved conflict. */
      readonly unresolved: readonly string[]
      /** The changes that weaken the proof of the work. */
      readonly weakened?: TamperingReport
      /** The git operation that the worker left unfinished. */
      readonly underWay?: string | null
      /** The agent's changes outside its checkout, in a sentence. */
      readonly outsideChanges?: string | null
      /** Files of finished tasks that have lost most of their lines, one sentence each. */
      readonly shortenedFiles?: readonly string[]
      /** Other observations, one sentence each. */
      readonly notes?: readonly string[]
      /** The finished work that this iteration removed. */
      readonly losses?: readonly LostWork[]
    }
  | {
      readonly type: 'task.merged'
      readonly task: string
      readonly tip: string
      readonly isTicked: boolean
      readonly notes?: readonly string[]
    }
  | {
      readonly type: 'task.conflicted'
      readonly task: string
      /** The commit that was to be merged. */
      readonly commit: string
      readonly files: readonly string[]
      readonly reason: string
      readonly detail: string
    }
  | { readonly type: 'worktree.removed'; readonly task: string; readonly notes: readonly string[] }
  /** The audit before the end has searched for lost finished work. */
  | { readonly type: 'loop.audited'; readonly losses: readonly LostWork[]; readonly notes: readonly string[] }
  /** The work of a reopened task is back, before an agent started on it. */
  | { readonly type: 'work.restored'; readonly task: string }
  /** The check ran before the first task. Null: there was nothing to run. */
  | { readonly type: 'baseline.checked'; readonly check: CheckRun | null; readonly trouble: string | null }
  | { readonly type: 'plan.read'; readonly list: TaskList; readonly base: LoopBase }
  | { readonly type: 'list.marked'; readonly marks: readonly ItemMark[]; readonly trouble: string | null }
  /** `removedWorktrees`: the folders of finished tasks that were kept before, and are removed now. */
  | { readonly type: 'loop.landed'; readonly commit: string; readonly removedWorktrees: readonly string[] }
  | { readonly type: 'landing.failed'; readonly reason: string }
)

export type LoopSignalType = LoopSignal['type']
export type LoopSignalOf<T extends LoopSignalType> = Extract<LoopSignal, { type: T }>
