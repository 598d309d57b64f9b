import type { Duration, Instant } from '../../lib/time.ts'

/** What leads to a checkpoint. */
export const CHECKPOINT_TRIGGERS = [
  'start',
  'edit',
  'interval',
  /** What is asked for, or what is done of it, has changed. */
  'news',
  'restart',
  'error',
  'stop',
  'end',
  'asked',
  /** What was there before something else was put in its place. */
  'restore',
] as const

export type CheckpointTrigger = (typeof CHECKPOINT_TRIGGERS)[number]

/** At these moments what is known of the session is worth a checkpoint, even if no file has changed. */
export const RECORD_TRIGGERS: readonly CheckpointTrigger[] = ['start', 'news', 'error', 'stop', 'end']

/** The whole working tree as it was at one moment, untracked files included, ignored ones not. */
export interface Checkpoint {
  /** Counted from 1 within its session; stays the same when others are thinned out. */
  readonly number: number
  /** The commit that holds it. */
  readonly commit: string
  readonly at: Instant
  readonly trigger: CheckpointTrigger
  readonly attempt: number
  /** What HEAD was then; null in a repository without a commit. */
  readonly head: string | null
  /** Against the checkpoint before; for the first one against HEAD. */
  readonly change: DiffStat
  /** What is not in it, and why: one sentence each, a few at most. */
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

/** How a session's work is saved. */
export interface CheckpointOptions {
  /** `branch`: also as a visible commit on the branch that is checked out. */
  readonly mode: 'ref' | 'branch' | 'off'
  readonly interval: Duration
  /** The remote that the checkpoints are pushed to as well. */
  readonly push: string | null
  /** Whether untracked files that look like secrets are saved, and so pushed, as well. Absent: no. */
  readonly pushUntracked?: boolean
  /** Whether other repositories that lie in the working tree are saved as well. Absent: no. */
  readonly nested?: boolean
}

/** What is known of a session's checkpoints without asking git. */
export interface CheckpointStatus {
  /** The newest one. */
  readonly last:
    | (Pick<Checkpoint, 'number' | 'commit' | 'at' | 'trigger'> & Partial<Pick<Checkpoint, 'leftOut'>>)
    | null
  /** Why the last try came to nothing; null when it did not. */
  readonly trouble: string | null
  /** What is to be saved next, whoever supervises by then; null when nothing is. */
  readonly wanted: { readonly trigger: CheckpointTrigger; readonly at: Instant } | null
  /** How far the remote has come; null where nothing is pushed, or never was. */
  readonly pushed: { readonly number: number; readonly at: Instant } | null
  readonly pushTrouble: string | null
  /** What is in the way on the remote, and where the checkpoints are instead. */
  readonly pushNote?: string
}

export const NO_CHECKPOINTS: CheckpointStatus = {
  last: null,
  trouble: null,
  wanted: null,
  pushed: null,
  pushTrouble: null,
}

/** For sessions that were accepted before there were checkpoints, too. */
export const DEFAULT_CHECKPOINT_OPTIONS: CheckpointOptions = { mode: 'ref', interval: 300_000, push: null }
