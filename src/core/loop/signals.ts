import type { Instant } from '../../lib/time.ts'
import type { Usage } from '../session/usage.ts'
import type { ProblemKind } from '../session/failure.ts'
import type { TamperingReport } from '../tampering/detect.ts'
import type { WorkEvidence } from './evidence.ts'
import type { TaskList, ItemMark } from './list/task-list.ts'
import type { Loop, TaskCheckout } from './loop.ts'
import type { LostWork } from './lost-work.ts'

/** What became of a check. */
export interface CheckRun {
  readonly ok: boolean
  readonly how: string
  readonly tail: string
}

/** How a worker's session ended. */
export interface WorkerExit {
  readonly outcome: 'done' | 'failed' | 'stopped' | 'gave-up'
  readonly reason: string
  readonly trouble: ProblemKind | null
  /** The agent's last words. */
  readonly said: string
  readonly spent: Usage
}

/** What the work is built upon. */
export interface LoopBase {
  /** The integration branch and where it stands; null where work happens in the user's checkout. */
  readonly branch: string | null
  readonly tip: string | null
  readonly marking: Loop['marking']
  /** What the user should know, one sentence each. */
  readonly notes: readonly string[]
  /** Finished work that is not there any more. */
  readonly losses?: readonly LostWork[]
  readonly yours?: Loop['yours']
  readonly home?: string
}

/** What a loop is told. `task` is a key, or null for planning; `iteration` tells a late one from the one that is meant. */
export type LoopSignal = { readonly at: Instant } /** A program for it has begun, for the first time or again. */ & (
  | { readonly type: 'loop.begun'; readonly list: TaskList; readonly ground: LoopBase }
  /** There is no list yet, and there is one to be planned. */
  | { readonly type: 'loop.unplanned' }
  | { readonly type: 'loop.impossible'; readonly reason: string }
  /** A person asks to go on after it had ended. `stoppedAt`: since when it was stopped. */
  | { readonly type: 'user.resume'; readonly wokenAt: Instant; readonly stoppedAt: Instant }
  | { readonly type: 'clock.due' }
  | {
      readonly type: 'place.ready'
      readonly task: string
      readonly place: TaskCheckout
      readonly clash: readonly string[]
      /** What was lost since the iteration before. */
      readonly losses?: readonly LostWork[]
      /** What had to be made anew, one sentence each. */
      readonly notes?: readonly string[]
    }
  | { readonly type: 'deed.failed'; readonly task: string | null; readonly iteration: number; readonly reason: string }
  | {
      readonly type: 'worker.begun'
      readonly task: string | null
      readonly iteration: number
      readonly session: string
    }
  /** It stands still, or works again: null. */
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
      readonly type: 'task.judged'
      readonly task: string
      readonly iteration: number
      readonly evidence: WorkEvidence
      /** Null where nothing was run. */
      readonly check: CheckRun | null
      /** The list as the worker has left it; null where it was not read, or could not be. */
      readonly list: TaskList | null
      /** What happened to the list as a whole, as a sentence. */
      readonly listNote?: string | null
      /** Files with a conflict that nobody has resolved. */
      readonly unresolved: readonly string[]
      /** What makes the proof of its work weaker. */
      readonly weakened?: TamperingReport
      /** What git was left in the middle of. */
      readonly underWay?: string | null
      /** What the agent did outside its place, as a sentence. */
      readonly strayed?: string | null
      /** Files of finished tasks that have lost most of their lines, one sentence each. */
      readonly thinned?: readonly string[]
      /** What else was seen meanwhile, one sentence each. */
      readonly notes?: readonly string[]
      /** What this iteration took away of finished work. */
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
      readonly type: 'task.clashed'
      readonly task: string
      /** What was to be merged. */
      readonly commit: string
      readonly files: readonly string[]
      readonly reason: string
      readonly detail: string
    }
  | { readonly type: 'task.cleared'; readonly task: string; readonly note: string | null }
  /** Whether finished work is still there was looked at before the end. */
  | { readonly type: 'loop.audited'; readonly losses: readonly LostWork[]; readonly notes: readonly string[] }
  /** The work of a task that was opened again is there, before an agent was started for it. */
  | { readonly type: 'task.regained'; readonly task: string }
  /** The check was run before the first task. Null: there was nothing to run. */
  | { readonly type: 'check.tried'; readonly check: CheckRun | null; readonly trouble: string | null }
  | { readonly type: 'plan.seen'; readonly list: TaskList; readonly ground: LoopBase }
  | { readonly type: 'list.marked'; readonly marks: readonly ItemMark[]; readonly trouble: string | null }
  | { readonly type: 'loop.landed'; readonly commit: string }
  | { readonly type: 'loop.unlanded'; readonly reason: string }
)

export type LoopSignalType = LoopSignal['type']
export type LoopSignalOf<T extends LoopSignalType> = Extract<LoopSignal, { type: T }>
