import type { Checkpoint, CheckpointOptions, CheckpointTrigger, DiffStat } from '../core/checkpoint/checkpoint.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import type { Spec } from '../core/session/session-state.ts'
import type { Instant } from '../lib/time.ts'

/** The session whose checkpoints a call is about, and its folder, which determines the repository. */
export interface CheckpointTarget {
  readonly cwd: string
  readonly sessionId: SessionId
  /** The session's name. With the id it forms the ref: `refs/oneshot/NAME/ID`. */
  readonly name: string
  /** The umask of restored files. Absent: the usual 022. */
  readonly umask?: number
  /** True saves other repositories inside the working tree as well. Absent: a checkpoint records only their HEAD. */
  readonly nested?: boolean
  /** True leaves out untracked files that look like secrets, because oneshot pushes the checkpoints. Absent: false. */
  readonly withholdsSecrets?: boolean
}

/** The data that git stores with a checkpoint. */
export interface CheckpointRequest {
  readonly trigger: CheckpointTrigger
  readonly attempt: number
  readonly at: Instant
  /**
   * Everything that another machine needs to continue the session, as JSON. The caller has already masked secrets in
   * it.
   */
  readonly record: string
  /** All messages in full, if the record holds shortened ones. The caller has already masked secrets. */
  readonly goal?: readonly string[]
  /** True if a changed record alone is worth a checkpoint, even if no file has changed. */
  readonly isRecordNews: boolean
  /** True also makes a visible commit on the branch that is checked out. */
  readonly isVisible: boolean
}

/** A session with checkpoints in a repository. It may come from another machine. */
export interface SavedSession {
  readonly name: string
  readonly sessionId: SessionId
  readonly last: Checkpoint
  /** The record that was stored with the last checkpoint. */
  readonly record: string
  /** The session that continues this one, and the machine of that session. */
  readonly claim?: { readonly sessionId: SessionId; readonly host: string }
}

type Env = Readonly<Record<string, string>>

export interface SessionRef {
  readonly name: string
  readonly sessionId: SessionId
}

/** A remote to fetch from, and the environment for the git commands. */
export interface Remote {
  readonly remote: string
  readonly env: Env
}

/** Chooses the wanted sessions among those on a remote. */
export type SessionFilter = (all: readonly SessionRef[]) => readonly SessionRef[]

/** The changes that a fetch made. */
export interface FetchResult {
  readonly taken: readonly { readonly ref: string; readonly commit: string; readonly before: string | null }[]
  /** Sessions for which this repository holds something that the remote does not. The fetch skipped them. */
  readonly diverged: readonly SessionRef[]
  /** Sessions whose newest commit on the remote is no checkpoint that this version can read. The fetch skipped them. */
  readonly unreadable: readonly SessionRef[]
}

export interface ClaimRequest extends Remote {
  readonly at: Instant
  /** The session that continues this one. */
  readonly sessionId: SessionId
  readonly host: string
  /** True ignores the claim of another session, because its machine is lost. */
  readonly isTakeOver: boolean
}

/** The newest checkpoint; `isNew` if this call made it. Its `leftOut` names everything that is not saved now. */
export interface SaveResult {
  readonly checkpoint: Checkpoint
  readonly isNew: boolean
}

/** oneshot cannot save checkpoints here: no repository, no git, or git refuses. The message says why in a sentence. */
export class NotSaved extends Error {
  override readonly name = 'Unkept'
  /** The action that solves the problem for the user. */
  readonly remedy: string | undefined

  constructor(message: string, remedy?: string) {
    super(message)
    this.remedy = remedy
  }
}

/** Reads the checkpoints of a repository, and changes nothing. A view holds only this part. */
export interface CheckpointReader {
  /**
   * Returns true if a repository surrounds this folder. Callers ask often: the call reads a few directory entries and
   * starts no process.
   */
  isRepository(cwd: string): boolean
  /** Returns the top of the working tree around this folder, or null. The call costs as little as `isRepository`. */
  worktreeRoot(cwd: string): string | null
  /** Returns all checkpoints, oldest first. */
  list(target: CheckpointTarget): Promise<Checkpoint[]>
  /** Returns the record that was stored with a checkpoint. */
  readRecord(target: CheckpointTarget, commit: string): Promise<string>
  /** Returns all messages of a session in full if some are too long for each checkpoint; else null. */
  readMessages(target: CheckpointTarget): Promise<readonly string[] | null>
  /** Returns the names of the remotes of this folder's repository. */
  remotes(cwd: string): Promise<string[]>
  /**
   * Returns the sessions that have checkpoints in this folder's repository, ordered by their last checkpoint, newest
   * first.
   */
  findSessions(cwd: string, name?: string): Promise<SavedSession[]>
  /** Returns the difference between two checkpoints, as git shows it. */
  diff(target: CheckpointTarget, from: string, to: string, options: { stat: boolean }): Promise<string>
  /**
   * Returns the size of the difference between the working tree and a checkpoint, or HEAD without one; and HEAD. Saves
   * nothing.
   */
  compareWorktree(
    target: CheckpointTarget,
    since: Checkpoint | null,
  ): Promise<{ change: DiffStat; head: string | null }>
  /** Returns the size of the difference between two checkpoints. */
  diffStat(target: CheckpointTarget, from: string, to: string): Promise<DiffStat>
  /** Returns the subjects of the commits that HEAD has and `since` does not have, newest first, at most `limit`. */
  commitSubjects(cwd: string, since: string, limit: number): Promise<string[]>
}

/** Brings the checkpoints of other machines into a repository, and removes what it brought. It touches no file. */
export interface CheckpointFetcher {
  /**
   * Fetches the checkpoints of the chosen sessions from a remote. Local checkpoints stay, unless those of the remote
   * continue them.
   */
  fetch(cwd: string, from: Remote, choose: SessionFilter, abortSignal: AbortSignal): Promise<FetchResult>
  /** Undoes a fetch that the caller made only to read. */
  undoFetch(cwd: string, fetched: FetchResult): Promise<void>
  /** Removes only the refs of a session that this home does not know. */
  removeRefs(target: CheckpointTarget): Promise<void>
}

/** Saves, restores, publishes and deletes checkpoints. Only the supervisor holds a writer. */
export interface CheckpointWriter {
  /**
   * Saves the whole working tree and returns the newest checkpoint. It returns the previous one if neither a file nor
   * HEAD nor a record that matters has changed since. The checkpoint is durable when the call returns: objects and ref
   * have reached the disk. A kill at any moment leaves either the previous checkpoint or the new one, and no lock that
   * blocks the next call. Throws `NotSaved` if nothing can be saved here, `Trouble` if this attempt failed.
   */
  save(target: CheckpointTarget, request: CheckpointRequest, abortSignal: AbortSignal): Promise<SaveResult>
  /** Deletes the checkpoints that the retention policy no longer keeps; returns how many it deleted. */
  prune(target: CheckpointTarget, now: Instant): Promise<number>
  /**
   * Pushes the checkpoints to a remote and replaces those that an earlier push put there. Throws `Trouble`, and changes
   * nothing, if somebody else has replaced them. Never asks for a password. Returns a sentence if it had to use another
   * ref name because an existing ref is in the way; else null.
   */
  push(target: CheckpointTarget, remote: string, env: Env, abortSignal: AbortSignal): Promise<string | null>
  /**
   * Claims a session on a remote for the session that continues it. Only one machine can hold the claim; otherwise the
   * call throws a refusal that names the holder. Returns a function that releases the claim.
   */
  claim(target: CheckpointTarget, request: ClaimRequest): Promise<() => Promise<void>>
  /**
   * Restores a checkpoint to a new branch that starts at the checkpoint's HEAD, and to a new worktree if a path is
   * given. Returns one sentence for each item that it could not restore.
   */
  restoreToBranch(
    target: CheckpointTarget,
    checkpoint: Checkpoint,
    to: { branch: string; worktree: string | null },
  ): Promise<readonly string[]>
  /**
   * Restores a checkpoint into the working tree and replaces the content that `over` has saved; `over` must be a
   * checkpoint of this moment. HEAD, branch, index and ignored files stay. Throws `Trouble`, and changes nothing, if a
   * file has changed since or an ignored file is in the way. Returns one sentence for each item that it could not
   * restore.
   */
  restoreInPlace(target: CheckpointTarget, checkpoint: Checkpoint, over: Checkpoint): Promise<readonly string[]>
  /** Switches to a new branch at this commit. The working tree must have no changes of its own. */
  switchToNewBranch(target: CheckpointTarget, branch: string, commit: string): Promise<void>
  /** Deletes all checkpoints of a session; the repository's own history stays. */
  removeAll(target: CheckpointTarget): Promise<void>
}

/**
 * Saves working trees in git and never touches anything of the user's: index, HEAD, branches, stash, reflog, hooks and
 * files stay as they are. Only one chain of git processes runs at a time per repository, for all callers.
 */
export interface Checkpoints extends CheckpointReader, CheckpointWriter, Pick<CheckpointFetcher, 'fetch'> {}

/** The parts of a session's spec that its checkpoints need. */
interface CheckpointedSession extends Pick<Spec, 'cwd' | 'id' | 'name' | 'umask'> {
  readonly supervision: { readonly saving: Pick<CheckpointOptions, 'nested' | 'push' | 'pushUntracked'> }
}

/** Returns the target for a session's checkpoints, with the options that limit their content. */
export function checkpointTargetOf({ cwd, id, name, umask, supervision }: CheckpointedSession): CheckpointTarget {
  const { nested, push, pushUntracked = false } = supervision.saving
  return {
    cwd,
    sessionId: id,
    name,
    ...(umask !== undefined && { umask }),
    ...(nested !== undefined && { nested }),
    ...(push !== null && !pushUntracked && { withholdsSecrets: true }),
  }
}
