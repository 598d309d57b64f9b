import type { Instant } from '../../lib/time.ts'
import type { Usage } from '../session/usage.ts'
import type { WorkEvidence, FileChange, Snapshot } from './work-evidence.ts'
import type { ListItem, ItemMark } from './list/task-list.ts'
import type { LoopSpec } from './spec.ts'

/** The reason why an iteration did not finish its task. */
export type TaskFailureKind =
  /** The agent ended well and changed nothing. */
  | 'idle'
  /** The check fails. */
  | 'broken'
  /** Tests no longer run, or the agent changed the check itself. */
  | 'weakened'
  /** The agent reported a failure, died too often, or exceeded its limits. */
  | 'failed'
  /** The work conflicts with the work of others. */
  | 'conflict'
  /** A merge is unfinished, or conflict markers are left in files. */
  | 'unfinished'
  /** The work is gone, or it removed the work of others. */
  | 'lost'

export interface TaskFailure {
  readonly kind: TaskFailureKind
  /** A sentence for people. */
  readonly reason: string
  /** The output of the check or of the agent. */
  readonly detail: string
}

/**
 * The reason why a task counts as done. `checked`: its check passed. `changed`: files changed, and no check passed, or
 * the check that passed may prove less than before.
 */
export type TaskProof = 'checked' | 'changed'

export interface Span {
  readonly from: Instant
  readonly to: Instant
}

/** One iteration: a fresh agent that worked on a task. */
export interface Iteration {
  readonly iteration: number
  readonly role: WorkerRole
  /** The name of its session; null until there is one. */
  readonly session: string | null
  readonly since: Instant
  readonly until: Instant | null
  /** The stops of the loop between the iteration's start and the end of its task. Absent: none. */
  readonly stops?: readonly Span[]
  readonly spent: Usage
  readonly failure: TaskFailure | null
  /** A few words, after the verification. */
  readonly verdict: string | null
  /** Absent until the verification succeeds. */
  readonly proof?: TaskProof
  /** The reason why a check that passed does not prove the task. Absent: it does, or no check passed. */
  readonly doubt?: string
}

/** `task` works on the task, `resolve` merges it with the work of others, `plan` makes the list. */
export type WorkerRole = 'task' | 'resolve' | 'plan'

/** The place of the work: the user's checkout, or a worktree of its own. */
export interface TaskCheckout {
  readonly cwd: string
  readonly branch: string | null
  /** The snapshot before any work on this task. */
  readonly since: Snapshot
  /** The user moved the project during an iteration: git could not trace all commands of its agent. */
  readonly isMoved?: true
}

/** The state of a task. */
export type TaskState =
  | { readonly name: 'open' }
  /** oneshot prepares the checkout; `role` is the role of the worker to come. */
  | { readonly name: 'opening'; readonly role: WorkerRole }
  | { readonly name: 'working'; readonly role: WorkerRole; readonly rest: string | null }
  | {
      readonly name: 'verifying'
      readonly role: WorkerRole
      readonly finalOutput: string
      readonly failure: TaskFailure | null
    }
  /** The work is proven by itself, and waits for its merge. */
  | {
      readonly name: 'merging'
      readonly role: WorkerRole
      /**
       * A person may have resolved the conflict since the verification: oneshot merges and checks the present content.
       */
      readonly isByHand?: true
    }
  /** Without a proof: somebody ticked the item in the list. */
  | {
      readonly name: 'done'
      readonly at: Instant
      readonly how: string
      readonly proof?: TaskProof
      readonly doubt?: string
    }
  | { readonly name: 'blocked'; readonly at: Instant; readonly failure: TaskFailure }
  /** The item is no longer in the list. */
  | { readonly name: 'dropped' }

export type TaskStateName = TaskState['name']

export interface LoopTask {
  readonly item: ListItem
  readonly state: TaskState
  readonly tries: readonly Iteration[]
  /** The checkout of its work, from its first iteration on. */
  readonly checkout: TaskCheckout | null
  /** The checkout of its conflict resolution, while there is one. */
  readonly resolution: TaskCheckout | null
  readonly evidence: WorkEvidence | null
  /** The files that both sides changed, if the merge failed. */
  readonly conflicts: readonly string[]
  /** Counts from 1 in the order in which the loop first saw the tasks: names its worktree and branch. */
  readonly number: number
  /** The number of first iterations that no longer count, because a person asked to continue. */
  readonly forgivenTries: number
  /** An agent removed the item from the list, and nobody else wanted that. */
  readonly isMissing: boolean
  /** oneshot has removed its worktree, or found that somebody still needs it. */
  readonly isWorktreeRemoved: boolean
  /**
   * The author of an item that was added while the loop ran, such as `the agent of task 2`. Absent: it was there from
   * the start, or a person added it.
   */
  readonly addedBy?: string
  /** An agent added the item, and a person has resumed the loop since. */
  readonly isAccepted?: true
  /** The number of times that the loop reopened the task because its work was lost. Absent: never. */
  readonly reopened?: number
  /** The rest of its work when the loop last reopened it. */
  readonly remainingWork?: readonly FileChange[]
  /** The commit of the verified work, if its merge failed. */
  readonly verifiedCommit?: string
  /** Its completion before the loop last reopened it. */
  readonly previousCompletion?: PreviousCompletion
}

/** A finished task whose work was lost. */
export interface PreviousCompletion {
  readonly state: Extract<TaskState, { name: 'done' }>
  readonly checkout: TaskCheckout | null
  readonly resolution: TaskCheckout | null
  readonly evidence: WorkEvidence
}

export type LoopStage =
  /** The loop reads the list, the repository and the check. */
  | { readonly name: 'beginning' }
  | { readonly name: 'planning'; readonly tries: number }
  | { readonly name: 'working' }
  | { readonly name: 'landing' }
  | { readonly name: 'ended'; readonly at: Instant; readonly ending: LoopOutcome }

/** `planned`: the user wanted only a plan. `unfinished`: `reason` says why, and a person decides. */
export interface LoopOutcome {
  readonly kind: 'done' | 'planned' | 'unfinished'
  readonly reason: string
}

/** The whole state of a loop. */
export interface Loop {
  readonly spec: LoopSpec
  readonly stage: LoopStage
  readonly tasks: readonly LoopTask[]
  /** The iterations of planning. */
  readonly plan: readonly Iteration[]
  readonly iterations: number
  /** The number of iterations before a person last asked to continue. */
  readonly forgivenIterations: number
  /** The present limit of concurrent workers. */
  readonly concurrency: number
  readonly concurrencySince: Instant
  readonly limitedAt: Instant | null
  readonly lastStartAt: Instant | null
  /** The last proven tip of the integration branch; null if the work happens in the user's checkout. */
  readonly tip: string | null
  readonly branch: string | null
  /**
   * The place where the loop ticks boxes: here at once, on the integration branch with each merge, or here after
   * landing.
   */
  readonly tickAt: 'here' | 'merge' | 'landing'
  readonly marksToWrite: readonly ItemMark[]
  /** The reason why the loop starts no other task; null without one. */
  readonly halt: string | null
  /** The time at which the loop landed its work in the user's branch. */
  readonly landedAt: Instant | null
  /**
   * The result of the check before the first task, and the number of passed tests; `ok` once it has passed. Absent: it
   * did not run.
   */
  readonly firstCheck?: { readonly ok: boolean; readonly how: string; readonly tests?: number }
  /** The key of the task that the user retries: the next resume leaves the other blocked tasks as they are. */
  readonly retriedTask?: string
  /** The key of the only wanted task, once the loop has found it. */
  readonly only: string | null
  /** The last time that a person resumed the loop's session, as far as the loop knows. */
  readonly resumedAt: Instant
  /** Problems beside the tasks, one sentence each. */
  readonly notes: readonly string[]
  /** Maps the keys of items that agents have renamed to the keys of their tasks. Absent: none. */
  readonly renamed?: Readonly<Record<string, string>>
  /** The state of the audit before the end, which searches for lost finished work: wanted, or done. */
  readonly audit?: 'wanted' | 'done'
  /**
   * The uncommitted work in the user's checkout at the start of the loop: from the last commit to the whole content.
   */
  readonly userChanges?: { readonly since: Snapshot; readonly now: Snapshot }
  /**
   * The branch that was checked out at the start of the loop; absent if there was none, and if the work happens in
   * worktrees.
   */
  readonly userBranch?: string
  readonly createdAt: Instant
}

/** Returns true while an iteration of the task is under way. */
export function isInProgress({ state }: LoopTask): boolean {
  return ['opening', 'working', 'verifying', 'merging'].includes(state.name)
}

/** Returns true if nothing more will happen to the task by itself. */
export function isFinal({ state }: LoopTask): boolean {
  return ['done', 'blocked', 'dropped'].includes(state.name)
}

/** Returns the strongest proof of the work on a task so far, or null. */
export function taskProof({ state, tries }: LoopTask): TaskProof | null {
  if (state.name === 'done') return state.proof ?? null
  return state.name === 'merging' ? (tries.findLast(({ proof }) => proof !== undefined)?.proof ?? null) : null
}

/** Returns the reason why the passed check of a finished or merging task does not prove it, or null. */
export function taskDoubt({ state, tries }: LoopTask): string | null {
  if (state.name === 'done') return state.doubt ?? null
  return state.name === 'merging' ? (tries.findLast(({ proof }) => proof !== undefined)?.doubt ?? null) : null
}

export function createLoop(spec: LoopSpec, at: Instant, resumedAt: Instant = at): Loop {
  return {
    spec,
    stage: { name: 'beginning' },
    tasks: [],
    plan: [],
    iterations: 0,
    forgivenIterations: 0,
    concurrency: spec.parallel ?? 1,
    concurrencySince: at,
    limitedAt: null,
    lastStartAt: null,
    tip: null,
    branch: null,
    tickAt: 'here',
    marksToWrite: [],
    halt: null,
    landedAt: null,
    only: null,
    resumedAt,
    notes: [],
    createdAt: at,
  }
}
