import type { Checkpoint, CheckpointOptions, CheckpointTrigger, DiffStat } from '../core/checkpoint/checkpoint.ts'
import type { Instant } from '../lib/time.ts'

/** Whose checkpoints: those of a session, in the repository that its folder belongs to. */
export interface CheckpointTarget {
  readonly cwd: string
  readonly sessionId: string
  /** Of the session. Together with the id it names the ref: `refs/oneshot/NAME/ID`. */
  readonly name: string
  /** The permissions that files brought back do not get. Absent: the usual 022. */
  readonly umask?: number
  /** Whether other repositories that lie in the working tree are saved as well. Absent: their HEAD is noted down. */
  readonly nested?: boolean
  /** Whether untracked files that look like secrets are left out, because what is saved is pushed. Absent: no. */
  readonly withholdsSecrets?: boolean
}

/** What is written down with a checkpoint. */
export interface CheckpointRequest {
  readonly trigger: CheckpointTrigger
  readonly attempt: number
  readonly at: Instant
  /** Whatever is needed to go on elsewhere, as JSON; secrets are hidden in it already. */
  readonly record: string
  /** All messages, whole, where the record has them cut; secrets are hidden. */
  readonly goal?: readonly string[]
  /** Whether a record that differs from the one before is worth a checkpoint, even if no file has changed. */
  readonly isRecordNews: boolean
  /** Also as a visible commit on the branch that is checked out. */
  readonly isVisible: boolean
}

/** A session that has kept something in a repository, maybe from another machine. */
export interface SavedSession {
  readonly name: string
  readonly sessionId: string
  readonly last: Checkpoint
  /** What was written down with it. */
  readonly record: string
  /** The session that continues it, and the machine that this one is on. */
  readonly claim?: { readonly sessionId: string; readonly host: string }
}

type Env = Readonly<Record<string, string>>

export interface SessionRef {
  readonly name: string
  readonly sessionId: string
}

/** Where something is fetched from, and how it is reached. */
export interface Remote {
  readonly remote: string
  readonly env: Env
}

/** Those of the sessions on a remote that are wanted. */
export type SessionFilter = (all: readonly SessionRef[]) => readonly SessionRef[]

/** What a fetch has changed. */
export interface FetchResult {
  readonly taken: readonly { readonly ref: string; readonly commit: string; readonly before: string | null }[]
  /** Sessions of which this repository has something that the remote has not; nothing of theirs was fetched. */
  readonly diverged: readonly SessionRef[]
}

export interface ClaimRequest extends Remote {
  readonly at: Instant
  /** The session that continues this one. */
  readonly sessionId: string
  readonly host: string
  /** Whether the claim of somebody else is not heeded, because its machine is lost. */
  readonly isTakeOver: boolean
}

/** The newest checkpoint, and whether it was made just now. */
export interface SaveResult {
  readonly checkpoint: Checkpoint
  readonly isNew: boolean
}

/** There is nothing here that could be saved: no repository, no git, or one that refuses. It says so in a sentence. */
export class NotSaved extends Error {
  override readonly name = 'Unkept'
  /** What its user can do about it. */
  readonly remedy: string | undefined

  constructor(message: string, remedy?: string) {
    super(message)
    this.remedy = remedy
  }
}

/**
 * Saves working trees in git without touching anything that is the user's: index, HEAD, branches, stash, reflog, hooks and
 * files stay as they are. One chain of git processes at a time per repository, whoever asks.
 */
export interface Checkpoints {
  /** Whether there is a repository around this folder. Asked often: it costs a few looks at the disk, and starts nothing. */
  isRepository(cwd: string): boolean
  /** The top of the working tree around this folder; null where there is none. It costs as little. */
  worktreeRoot(cwd: string): string | null
  /**
   * Saves the whole working tree, and answers the newest checkpoint: the one before, when neither a file nor HEAD has changed
   * since then, nor a record that matters. Durable when it returns: objects and ref have reached the disk. Killed at any moment, it leaves the one before or the new one, and no lock that the
   * next call would stumble over. Throws `Unkept` where nothing can be saved, `Trouble` when it did not work this time.
   */
  save(target: CheckpointTarget, request: CheckpointRequest, abortSignal: AbortSignal): Promise<SaveResult>
  /** All there are, oldest first; empty where there are none. */
  list(target: CheckpointTarget): Promise<Checkpoint[]>
  /** What was written down with one. */
  readRecord(target: CheckpointTarget, commit: string): Promise<string>
  /** Thins out what is no longer worth keeping; answers how many went. */
  prune(target: CheckpointTarget, now: Instant): Promise<number>
  /**
   * Brings them to a remote, in the place of what was brought there before. Throws `Trouble` where somebody else has put
   * something in its place, and leaves that alone. Never asks anybody for a password. Answers a sentence when it had to put
   * them under another name, because something is in the way; else null.
   */
  push(target: CheckpointTarget, remote: string, env: Env, abortSignal: AbortSignal): Promise<string | null>
  /**
   * Claims a session on a remote for another one that continues it. Only one machine can; throws a refusal that says who
   * does otherwise. Answers how to give the claim back.
   */
  claim(target: CheckpointTarget, request: ClaimRequest): Promise<() => Promise<void>>
  /** All messages of a session, whole, where some are too long for each checkpoint; else null. */
  readMessages(target: CheckpointTarget): Promise<readonly string[] | null>
  /** Brings from a remote what some of its sessions have kept there. What is here stays, unless the remote has gone on from it. */
  fetch(cwd: string, from: Remote, choose: SessionFilter, abortSignal: AbortSignal): Promise<FetchResult>
  /** The names of the remotes that the repository of this folder knows. */
  remotes(cwd: string): Promise<string[]>
  /** The sessions of which something is kept in the repository of this folder, by their last checkpoint, the newest first. */
  findSessions(cwd: string, name?: string): Promise<SavedSession[]>
  /** What is different between two of them, as git shows it. */
  diff(target: CheckpointTarget, from: string, to: string, options: { stat: boolean; colour: boolean }): Promise<string>
  /** What the working tree has become since a checkpoint, or has beside HEAD, in numbers; and what HEAD is. Keeps nothing. */
  compareWorktree(
    target: CheckpointTarget,
    since: Checkpoint | null,
  ): Promise<{ change: DiffStat; head: string | null }>
  /** In numbers. */
  diffStat(target: CheckpointTarget, from: string, to: string): Promise<DiffStat>
  /**
   * Puts one onto a new branch, which begins at what HEAD was then, and that into a new worktree when a path is given. Answers
   * what could not be brought back, one sentence each.
   */
  restoreToBranch(
    target: CheckpointTarget,
    checkpoint: Checkpoint,
    to: { branch: string; worktree: string | null },
  ): Promise<readonly string[]>
  /**
   * Puts one into the working tree, in the place of what the given checkpoint, which must be of this moment, has saved. HEAD,
   * branch, index and ignored files stay. Throws `Trouble`, with nothing done, when a file was changed since or an ignored one
   * is in the way. Answers what could not be brought back.
   */
  restoreInPlace(target: CheckpointTarget, checkpoint: Checkpoint, over: Checkpoint): Promise<readonly string[]>
  /** Goes over to a new branch at this commit. Only in a working tree without changes of its own. */
  switchToNewBranch(target: CheckpointTarget, branch: string, commit: string): Promise<void>
  /** The subjects of the commits that HEAD has and this one has not, newest first, at most so many. */
  commitSubjects(cwd: string, since: string, limit: number): Promise<string[]>
  /** Forgets all that was kept of a session; the repository's own history stays. */
  removeAll(target: CheckpointTarget): Promise<void>
}

interface CheckpointedSession {
  readonly cwd: string
  readonly id: string
  readonly name: string
  readonly umask?: number | undefined
  readonly saving?: Partial<CheckpointOptions>
}

/** Where a session's checkpoints are, and what is left out of them. */
export function checkpointTargetOf({ cwd, id, name, umask, saving = {} }: CheckpointedSession): CheckpointTarget {
  const { nested, push = null, pushUntracked = false } = saving
  return {
    cwd,
    sessionId: id,
    name,
    ...(umask !== undefined && { umask }),
    ...(nested !== undefined && { nested }),
    ...(push !== null && !pushUntracked && { withholdsSecrets: true }),
  }
}
