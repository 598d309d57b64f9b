import type { Instant } from '../../lib/time.ts'
import type { Usage } from '../session/usage.ts'
import type { WorkEvidence, FileChange, Snapshot } from './evidence.ts'
import type { ListItem, ItemMark } from './list/task-list.ts'
import type { LoopSpec } from './spec.ts'

/** Why an iteration did not bring its task to an end. */
export type TaskFailureKind =
  /** The agent ended well and nothing was changed. */
  | 'idle'
  /** The check fails. */
  | 'broken'
  /** Tests no longer run, or the check itself was changed. */
  | 'weakened'
  /** The agent says that it failed, or died too often, or was over its limits. */
  | 'failed'
  /** It does not go together with what others did. */
  | 'clash'
  /** A merge is unfinished, or marks of a conflict are left in files. */
  | 'unfinished'
  /** Its work is not there any more; or it took away the work of others. */
  | 'lost'

export interface TaskFailure {
  readonly kind: TaskFailureKind
  /** What a person needs to know of it. */
  readonly reason: string
  /** What the check or the agent said. */
  readonly detail: string
}

/** Why a task counts as done. `checked`: its check passed. `changed`: files changed, and no check passed. */
export type TaskProof = 'checked' | 'changed'

export interface Span {
  readonly from: Instant
  readonly to: Instant
}

/** One iteration: a fresh agent that worked on a task. */
export interface Iteration {
  readonly iteration: number
  readonly role: WorkerRole
  /** The session it is, by name; null until there is one. */
  readonly session: string | null
  readonly since: Instant
  readonly until: Instant | null
  /** When the loop was stopped between its start and the end of its task. Absent: never. */
  readonly stops?: readonly Span[]
  readonly spent: Usage
  readonly flaw: TaskFailure | null
  /** In a few words, once it is judged. */
  readonly verdict: string | null
  /** Absent until it is judged to be good. */
  readonly proof?: TaskProof
}

/** `task` works on it, `resolve` brings it together with what others did meanwhile, `plan` makes the list. */
export type WorkerRole = 'task' | 'resolve' | 'plan'

/** Where work happens: in the user's checkout, or on a bench of its own. */
export interface TaskCheckout {
  readonly cwd: string
  readonly branch: string | null
  /** Before any work on this task. */
  readonly since: Snapshot
}

/** How a task stands. */
export type TaskState =
  | { readonly name: 'open' }
  /** Its place is made ready; `role` is who will work there. */
  | { readonly name: 'opening'; readonly role: WorkerRole }
  | { readonly name: 'working'; readonly role: WorkerRole; readonly rest: string | null }
  | { readonly name: 'judging'; readonly role: WorkerRole; readonly said: string; readonly flaw: TaskFailure | null }
  /** It is proven by itself, and waits for its turn to be merged. */
  | {
      readonly name: 'merging'
      readonly role: WorkerRole
      /** A person may have brought it together since it was judged: what lies there now is merged, and checked. */
      readonly isByHand?: true
    }
  /** Without a proof: somebody ticked it in the list. */
  | { readonly name: 'done'; readonly at: Instant; readonly how: string; readonly proof?: TaskProof }
  | { readonly name: 'blocked'; readonly at: Instant; readonly flaw: TaskFailure }
  /** It is no longer in the list. */
  | { readonly name: 'dropped' }

export type TaskStateName = TaskState['name']

export interface LoopTask {
  readonly item: ListItem
  readonly stand: TaskState
  readonly tries: readonly Iteration[]
  /** Where the work on it is, from its first iteration on. */
  readonly place: TaskCheckout | null
  /** Where it is brought together with the others', while it is. */
  readonly resolution: TaskCheckout | null
  readonly evidence: WorkEvidence | null
  /** What is different on both sides, when it could not be merged. */
  readonly clash: readonly string[]
  /** Counted from 1 in the order they were first seen: names its worktree and branch. */
  readonly number: number
  /** Its first tries count no more: a person has asked to go on. */
  readonly pardoned: number
  /** An agent has taken it out of the list: nobody else wanted that. */
  readonly isMissing: boolean
  /** Its worktree is removed, or was found to be needed still. */
  readonly isCleared: boolean
  /** Who added it to the list while the loop ran, such as `the agent of task 2`. Absent: it was there, or a person added it. */
  readonly addedBy?: string
  /** It was added by an agent, and a person has resumed the loop since. */
  readonly isAccepted?: true
  /** How often it was opened again because its work was lost. Absent: never. */
  readonly reopened?: number
  /** What was still there of its work when it was last opened again. */
  readonly kept?: readonly FileChange[]
  /** The commit of what was judged, once it was to be merged and could not be. */
  readonly sealed?: string
  /** How it was done before it was last opened again. */
  readonly undone?: PreviousCompletion
}

/** A finished task whose work was lost. */
export interface PreviousCompletion {
  readonly stand: Extract<TaskState, { name: 'done' }>
  readonly place: TaskCheckout | null
  readonly resolution: TaskCheckout | null
  readonly evidence: WorkEvidence
}

export type LoopStage =
  /** The list, the repository and the check are looked at. */
  | { readonly name: 'beginning' }
  | { readonly name: 'planning'; readonly tries: number }
  | { readonly name: 'working' }
  | { readonly name: 'landing' }
  | { readonly name: 'ended'; readonly at: Instant; readonly ending: LoopOutcome }

/** `planned`: a plan is all there was to do. `unfinished`: `reason` says why, and a person decides. */
export interface LoopOutcome {
  readonly kind: 'done' | 'planned' | 'unfinished'
  readonly reason: string
}

/** All that is known of a loop. */
export interface Loop {
  readonly spec: LoopSpec
  readonly stage: LoopStage
  readonly tasks: readonly LoopTask[]
  /** Of planning. */
  readonly plan: readonly Iteration[]
  readonly iterations: number
  /** Of these, before a person last asked to go on. */
  readonly waived: number
  /** How many may be at work at a time for now. */
  readonly width: number
  readonly widthSince: Instant
  readonly limitedAt: Instant | null
  readonly lastStartAt: Instant | null
  /** What the integration branch was last proven at; null where work happens in the user's checkout. */
  readonly tip: string | null
  readonly branch: string | null
  /** Where boxes are ticked: here at once, on the integration branch with each merge, or here once all has landed. */
  readonly marking: 'here' | 'merge' | 'landing'
  readonly toMark: readonly ItemMark[]
  /** Why no other task is begun; null while all is well. */
  readonly halt: string | null
  /** It was merged into what the user had checked out. */
  readonly landedAt: Instant | null
  /** How the check ended before the first task, and how many tests passed; `ok` once it has passed. Absent: it was not run. */
  readonly firstCheck?: { readonly ok: boolean; readonly how: string; readonly tests?: number }
  /** The task that alone is wanted, by its key once it was found. */
  readonly only: string | null
  /** When its session was last woken by a person, as far as is known here. */
  readonly wokenAt: Instant
  /** What is wrong beside the tasks, one sentence each. */
  readonly notes: readonly string[]
  /** Keys of items in the list that agents have renamed, and the keys of the tasks that they are. Absent: none. */
  readonly renamed?: Readonly<Record<string, string>>
  /** Whether finished work is still there is looked at once more before the end: that is wanted, or was done. */
  readonly audit?: 'wanted' | 'done'
  /** From the last commit to all that lay in the user's checkout when the loop began: what was not committed. */
  readonly yours?: { readonly since: Snapshot; readonly now: Snapshot }
  /** The branch that was checked out when the loop began; absent where there was none, and where work happens in worktrees. */
  readonly home?: string
  readonly createdAt: Instant
}

/** An iteration is under way. */
export function isInProgress({ stand }: LoopTask): boolean {
  return ['opening', 'working', 'judging', 'merging'].includes(stand.name)
}

/** Nothing more will happen to it by itself. */
export function isFinal({ stand }: LoopTask): boolean {
  return ['done', 'blocked', 'dropped'].includes(stand.name)
}

/** How well the work on a task is proven so far; null where nothing proves it. */
export function taskProof({ stand, tries }: LoopTask): TaskProof | null {
  if (stand.name === 'done') return stand.proof ?? null
  return stand.name === 'merging' ? (tries.findLast(({ proof }) => proof !== undefined)?.proof ?? null) : null
}

export function createLoop(spec: LoopSpec, at: Instant, wokenAt: Instant = at): Loop {
  return {
    spec,
    stage: { name: 'beginning' },
    tasks: [],
    plan: [],
    iterations: 0,
    waived: 0,
    width: spec.parallel ?? 1,
    widthSince: at,
    limitedAt: null,
    lastStartAt: null,
    tip: null,
    branch: null,
    marking: 'here',
    toMark: [],
    halt: null,
    landedAt: null,
    only: null,
    wokenAt,
    notes: [],
    createdAt: at,
  }
}
