import type { FileChange, DetailedEvidence, Snapshot } from '../core/loop/work-evidence.ts'
import type { ReadBefore } from '../core/tampering/find-changes-to-check.ts'
import type { EditedFile } from '../core/tampering/test-file.ts'
import type { Instant } from '../lib/time.ts'

/** The result of a merge. */
export type MergeResult =
  /** `commit`: the new tip of the branch that received the merge. */
  | { readonly kind: 'merged'; readonly commit: string }
  /** The merge changed nothing, because both sides changed these files. */
  | { readonly kind: 'conflict'; readonly files: readonly string[] }
  /** The merge changed nothing, because somebody has moved the branch that was to receive it. */
  | { readonly kind: 'moved' }

/** The result of a request to remove a worktree. */
export type RemoveResult =
  | { readonly kind: 'gone' }
  /**
   * The worktree holds something that exists nowhere else; `reason` names it in a sentence. `isDirty`: the only
   * obstacle is uncommitted files, and `reset` can back those up.
   */
  | { readonly kind: 'kept'; readonly reason: string; readonly isDirty?: boolean }

/** The state of the repository around a folder. */
export interface RepositoryState {
  readonly top: string
  /** Null if no branch is checked out. */
  readonly branch: string | null
  /** Null in a repository without a commit. */
  readonly head: string | null
  /** True if there is nothing to commit, untracked files included. */
  readonly isClean: boolean
  /** The git directory of this working tree, with its HEAD and its index. */
  readonly gitDir: string
}

/** The checked-out commit and branch; null for no commit, and for no branch. */
export interface Head {
  readonly commit: string | null
  readonly branch: string | null
  /** Bytes of the reflog of HEAD; 0 if there is none. */
  readonly reflog: number
}

/** A setting that makes git ignore a checkout. `cure`: a command line that corrects it. */
export interface Hindrance {
  readonly what: string
  readonly cure: string
}

/** The way in which a checkout returned to a branch. `from`: the branch or commit that was checked out instead. */
export type ReturnResult =
  | { readonly kind: 'there' }
  /** The branch moved to the checked-out commit. */
  | { readonly kind: 'followed'; readonly from: string }
  /** HEAD named another branch without a checkout and names this one again; the call touched no file. */
  | { readonly kind: 'pointed'; readonly from: string }
  /** The branch is checked out again; `head` is the commit that was checked out before. */
  | { readonly kind: 'returned'; readonly from: string; readonly head: string | null }
  | { readonly kind: 'stuck'; readonly from: string; readonly why: string }
  /** A git operation such as `a rebase` is in progress and needs HEAD where it is. `abort`: a command that ends it. */
  | { readonly kind: 'in-progress'; readonly from: string; readonly operation: string; readonly abort: string }

export interface EvidenceOptions {
  readonly worker?: WorkerTrace | null
  /** Older commits that somebody only picked or rebased since then do not count, nor does content of other branches. */
  readonly begunAt?: Instant
  /** The branch of the work; absent or null for the branch that the user has checked out. */
  readonly branch?: string | null
  /** As for `snapshot`. */
  readonly backupName?: string
}

/** Identifies the work of one worker in a checkout that others use as well. */
export interface WorkerTrace {
  /** The file that receives the worker's git commands: `GIT_TRACE2_EVENT`. */
  readonly trace: string
  readonly since: Instant
}

/** The user's refs in a repository: branches and tags by their full names, and the commits of stashes. */
export interface UserRefs {
  readonly refs: ReadonlyMap<string, string>
  readonly stashes: readonly string[]
}

/** A git command that an agent ran. */
export interface GitCommand {
  readonly name: string
  readonly argv: readonly string[]
  /** Seconds since 1970. */
  readonly from: number
}

/** A file by its path, as git stores it, and its `MODE HASH`. */
export interface TreeFile {
  readonly path: string
  readonly entry: string
}

/** A lock file of git. */
export interface GitLock {
  readonly file: string
  /** Differs for another lock at the same path. */
  readonly stamp: string
  /** True if a running git process may hold it. */
  readonly isHeld: boolean
}

/** The list of tasks in a branch that lands. */
export interface LandedList {
  /** The path of the list from the top of a working tree, each byte as one character. */
  readonly file: string
  /** Ticks the boxes of all landing tasks in the working tree with this top. */
  readonly tick: (top: string) => Promise<void>
}

/** A working tree of its own on a branch of its own. */
export interface Worktree {
  readonly path: string
  readonly branch: string
}

/**
 * Lets several workers use one repository without conflicts. A caller may repeat every call, even after a `kill -9` in
 * the middle of it; the repeated call finds or finishes the earlier work. Writing calls wait for each other, across
 * processes, and for a lock that somebody else holds. Only `land` touches the user's checkout, index, HEAD and branch.
 * No call runs a hook of the repository or asks for a password or an editor. A failed call throws `Trouble`;
 * `mayHelpToRetry` is false if a retry fails until somebody solves the problem.
 */
export interface Worktrees {
  /** Returns the state of the repository around this folder, or null if there is none. */
  inspect(cwd: string): Promise<RepositoryState | null>
  /** Returns false if the folder does not exist. */
  hasFolder(cwd: string): boolean
  /** Returns false if the working tree with this top has lost its repository. */
  hasRepository(top: string): boolean
  /** Creates a repository with a first commit of the folder's content, unless the folder already has one. */
  initRepository(cwd: string): Promise<void>
  /**
   * Records the present content of the working tree. A ref keeps the last snapshot of each working tree; git keeps
   * earlier ones as long as unreachable objects: two weeks. With `backupName` the ref `refs/oneshot-loop/work/NAME`
   * keeps it as well.
   */
  snapshot(cwd: string, backupName?: string): Promise<Snapshot>
  /**
   * Returns the changes since a snapshot. `excludedPaths`: files or folders, relative to `cwd`, that do not count;
   * neither does `.agent/`. If git has lost the snapshot, the call compares with the HEAD of that time; if git has
   * lost that as well, the evidence says so and shows no change. Commits that came from elsewhere do not count; with `worker`, neither do commits of others.
   */
  collectEvidence(
    cwd: string,
    since: Snapshot,
    excludedPaths: readonly string[],
    how?: EvidenceOptions,
  ): Promise<DetailedEvidence>
  /** Returns the differences within each pair of trees or commits; null if git has lost one of them. */
  diffTrees(
    cwd: string,
    pairs: readonly (readonly [from: string, to: string])[],
  ): Promise<(readonly FileChange[] | null)[]>
  /** Returns the `MODE HASH` of each path in a tree or commit. */
  listTree(cwd: string, tree: string): Promise<ReadonlyMap<string, string>>
  /**
   * Returns the files that git tracks or would add, from the top, and the ignored ones; an ignored folder ends with a
   * slash.
   */
  listFiles(cwd: string): Promise<{ top: string; files: readonly string[]; ignored: readonly string[] }>
  /** Returns the content of these blobs by hash, as text of at most 1 MB each. */
  readBlobs(cwd: string, hashes: readonly string[]): Promise<ReadonlyMap<string, string>>
  /**
   * Returns the texts of changed files before and after the change, and a function that reads unchanged files of the
   * working tree around `cwd`, whose top is `top`.
   */
  readTextChanges(
    at: { readonly cwd: string; readonly top: string },
    changed: readonly (FileChange & Pick<EditedFile, 'added' | 'removed' | 'isOwn'>)[],
  ): Promise<{ changes: readonly EditedFile[]; read: ReadBefore }>
  /** Returns those of these files, relative to the top of a working tree, that contain an unresolved conflict. */
  findConflictMarkers(top: string, files: readonly string[]): string[]
  /**
   * Returns a text for each of these paths, as git stores them, that changes with the file's content. An empty text
   * stands for a missing file.
   */
  fileStamps(top: string, paths: readonly string[]): ReadonlyMap<string, string>
  /**
   * Returns those of these paths from the top that git ignores and does not track. The value is true if the file
   * exists.
   */
  findIgnored(cwd: string, paths: readonly string[]): Promise<ReadonlyMap<string, boolean>>
  /** Returns those of these paths in the first tree whose content the second tree has elsewhere. */
  findMovedPaths(
    cwd: string,
    pair: readonly [from: string, to: string],
    paths: readonly string[],
  ): Promise<ReadonlySet<string>>
  /** Returns those of these commits that HEAD, or another commit, does not contain, oldest first. */
  findUnreachable(cwd: string, commits: readonly string[], from?: string): Promise<readonly string[]>
  /** Returns the file that receives a worker's git commands: `GIT_TRACE2_EVENT`. Null if this git cannot write one. */
  traceFile(cwd: string, name: string): Promise<string | null>
  /**
   * Checks out a branch again in the user's checkout, with the commits made since if they follow the branch. Never
   * overwrites uncommitted work, nor moves HEAD while a git operation is in progress. Creates a deleted branch again at `since.head`. `since`: the state before somebody
   * left the branch.
   */
  returnToBranch(cwd: string, branch: string, since: Pick<Snapshot, 'head' | 'reflog'> | null): Promise<ReturnResult>
  head(cwd: string): Promise<Head>
  /**
   * Returns the settings that make git use another working tree than the files around its folder. The call works even
   * then.
   */
  hindrances(cwd: string): Promise<readonly Hindrance[]>
  /** Returns the files of a commit that are missing in this checkout. */
  deleted(cwd: string, commit: string): Promise<readonly string[]>
  /**
   * Returns true if HEAD came to name this branch without a checkout: then the files are those of the previous branch.
   */
  wasPointed(cwd: string, before: Head, branch: string | null): Promise<boolean>
  /** Returns the user's refs, without the branches of loops; null if oneshot cannot read them without git. */
  userRefs(cwd: string): Promise<UserRefs | null>
  /** Returns the locks without which nobody can commit in this checkout: those of HEAD and of the index. */
  listLocks(cwd: string): readonly GitLock[]
  /** Returns the git commands that a trace file holds. */
  readTrace(trace: string): readonly GitCommand[]
  removeTrace(trace: string): void
  /** Backs up the targets of these refs, each at `refs/oneshot-loop/work/NAME/` plus its own name after `refs/`. */
  backUpRefs(cwd: string, name: string, refs: ReadonlyMap<string, string>): Promise<void>
  /** Returns true if git commands in the trace file may have changed this checkout, or the tip of its branch. */
  hasChangedCheckout(cwd: string, trace: string): Promise<boolean>
  /** Protects a commit from garbage collection by `refs/oneshot-loop/work/NAME`. */
  backUpCommit(cwd: string, name: string, commit: string): Promise<void>
  /**
   * Creates a tree of only these files and protects it from garbage collection below `refs/oneshot-loop/work/NAME`.
   * Returns the tree's id.
   */
  backUpFiles(cwd: string, name: string, files: readonly TreeFile[]): Promise<string>
  /**
   * Creates a worktree and its branch again if somebody has removed them: the branch at its last known tip, else at
   * `commit`. Returns the part that was missing.
   */
  repair(cwd: string, worktree: Worktree, commit: string): Promise<'folder' | 'branch' | null>
  /** Corrects the links between the repository and these worktrees after somebody moved all of them. */
  relink(cwd: string, folders: readonly string[]): Promise<void>
  /** Returns the tip of a branch; null if no branch has that name. */
  branchTip(cwd: string, branch: string): Promise<string | null>
  /** Returns the newest commits of HEAD, newest first. */
  log(cwd: string, limit: number): Promise<readonly { id: string; subject: string }[]>
  /**
   * Opens a worktree on a new branch that starts at a commit and tracks no other branch. Reuses an existing worktree
   * that has both names, and an existing branch without a worktree. The entries of other worktrees stay, even if their
   * folders are missing.
   */
  open(cwd: string, worktree: Worktree, from: string): Promise<void>
  /**
   * Commits everything uncommitted in a worktree of ours, in the user's name or else as oneshot. The excluded paths,
   * relative to the worktree, and `.agent/` get the content they had where the work branched off from `base`, even if
   * commits changed them. A merge in progress becomes a merge commit if its conflicts are resolved. Commits on another
   * branch, or on none, count if they follow this branch. Files of more than 50 MB and new repositories stay
   * uncommitted. Returns the commit. With `verifiedSnapshot` the call commits exactly that snapshot. Later changes stay
   * where they are, and so does a branch that has moved on.
   */
  commitAll(
    worktree: Worktree,
    message: string,
    excludedPaths: readonly string[],
    base: string,
    verifiedSnapshot?: Snapshot,
  ): Promise<string>
  /**
   * Merges a branch or commit into the branch that is checked out in the worktree, which must be at the commit `onto`,
   * always as a merge commit with this message. A branch that is already contained counts as merged. A conflict leaves
   * everything as it was. The call does nothing while a tracked file of more than 50 MB is changed: it could not undo
   * that.
   */
  merge(worktree: Worktree, branch: string, message: string, onto?: string): Promise<MergeResult>
  /**
   * Starts a merge and leaves the conflict in the files for somebody to resolve; a merge in progress stays. Returns the
   * unresolved files. `commitAll` ends the merge.
   */
  startMerge(worktree: Worktree, branch: string): Promise<readonly string[]>
  /**
   * Commits only these paths, relative to the top, of a worktree of ours; does nothing if they are unchanged or
   * ignored. `onto`: the commit that must be checked out. Returns the tip of the branch.
   */
  commitPaths(worktree: Worktree, paths: readonly string[], message: string, onto?: string): Promise<string>
  /**
   * Removes a worktree and its branch if the branch `into` contains all of it except ignored files; else both stay. The
   * backups that `reset` made of the branch go too if `into` has their commits and file contents; else they stay.
   */
  remove(cwd: string, worktree: Worktree, into: string): Promise<RemoveResult>
  /**
   * Moves the branch of a worktree of ours back to a commit, files included; ignored files stay.
   * `refs/oneshot-loop/kept/BRANCH`, with `+` for each `/` in the name, backs up commits that no other branch has, and
   * uncommitted work. Files that cannot be backed up, because they have more than 50 MB or are unreadable, stay where
   * they are; if that is not possible, the call does nothing.
   */
  reset(worktree: Worktree, commit: string): Promise<void>
  /**
   * Brings a branch into the branch that the user has checked out at `cwd`: as a fast-forward if possible, else as a
   * merge. Throws `Trouble`, and changes nothing, if changed files, a conflict or another merge are in the way.
   * Resolves a conflict in the list of tasks alone.
   */
  land(
    cwd: string,
    branch: string,
    message: string,
    how?: { readonly isSquash?: boolean; readonly isDry?: boolean; readonly list?: LandedList },
  ): Promise<{ commit: string; isForward: boolean }>
}
