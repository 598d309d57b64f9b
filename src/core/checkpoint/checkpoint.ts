import type { Duration, Instant } from '../../lib/time.ts'

/** The causes of a checkpoint. */
export const CHECKPOINT_TRIGGERS = [
  'start',
  'edit',
  'interval',
  /** The messages or the state of the tasks have changed. */
  'news',
  'restart',
  'error',
  'stop',
  'end',
  'asked',
  /** A restore is about to replace the working tree. */
  'restore',
] as const

export type CheckpointTrigger = (typeof CHECKPOINT_TRIGGERS)[number]

/** At these moments the session's record is worth a checkpoint, even if no file has changed. */
export const RECORD_TRIGGERS: readonly CheckpointTrigger[] = ['start', 'news', 'error', 'stop', 'end']

/** The whole working tree at one moment, with untracked files and without ignored ones. */
export interface Checkpoint {
  /** Counts from 1 within the session; pruning other checkpoints does not change it. */
  readonly number: number
  /** The commit that holds the checkpoint. */
  readonly commit: string
  readonly at: Instant
  readonly trigger: CheckpointTrigger
  readonly attempt: number
  /** HEAD at that moment; null in a repository without a commit. */
  readonly head: string | null
  /** The difference to the previous checkpoint; for the first one, to HEAD. */
  readonly change: DiffStat
  /** The items that the checkpoint leaves out, and why: one sentence each, a few at most. */
  readonly leftOut: readonly string[]
}

export interface DiffStat {
  readonly files: number
  readonly added: number
  readonly removed: number
}

export const EMPTY_DIFF: DiffStat = { files: 0, added: 0, removed: 0 }

export function addDiffStats(one: DiffStat, other: DiffStat): DiffStat {
  return { files: one.files + other.files, added: one.added + other.added, removed: one.removed + other.removed }
}

/** The user's options for checkpoints. */
export interface CheckpointOptions {
  /** `branch`: also makes a visible commit on the branch that is checked out. */
  readonly mode: 'ref' | 'branch' | 'off'
  readonly interval: Duration
  /** The remote that also gets the checkpoints. */
  readonly push: string | null
  /** True also saves, and so pushes, untracked files that look like secrets. Absent: false. */
  readonly pushUntracked?: boolean
  /** True also saves other repositories inside the working tree. Absent: false. */
  readonly nested?: boolean
}

/** The state of a session's checkpoints, known without git. */
export interface CheckpointStatus {
  /** The newest checkpoint. */
  readonly last:
    | (Pick<Checkpoint, 'number' | 'commit' | 'at' | 'trigger'> & Partial<Pick<Checkpoint, 'leftOut'>>)
    | null
  /** The reason why the last try failed; null if it did not fail. */
  readonly trouble: string | null
  /** The request for the next checkpoint, which also survives a change of the supervisor; null for none. */
  readonly wanted: { readonly trigger: CheckpointTrigger; readonly at: Instant } | null
  /** The newest pushed checkpoint; null if nothing was ever pushed. */
  readonly pushed: { readonly number: number; readonly at: Instant } | null
  readonly pushTrouble: string | null
  /** The obstacle on the remote, and the ref that holds the checkpoints instead. */
  readonly pushNote?: string
}

export const NO_CHECKPOINTS: CheckpointStatus = {
  last: null,
  trouble: null,
  wanted: null,
  pushed: null,
  pushTrouble: null,
}

/** Also applies to sessions from before checkpoints. */
export const DEFAULT_CHECKPOINT_OPTIONS: CheckpointOptions = { mode: 'ref', interval: 300_000, push: null }
