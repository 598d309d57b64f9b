import type { FileChange, DetailedEvidence, Snapshot } from '../core/loop/evidence.ts'
import type { Instant } from '../lib/time.ts'

/** What became of a merge. */
export type MergeResult =
  /** `commit`: where the branch merged into stands now. */
  | { readonly kind: 'merged'; readonly commit: string }
  /** Nothing was changed; these files are different on both sides. */
  | { readonly kind: 'conflict'; readonly files: readonly string[] }
  /** Nothing was merged: somebody has moved the branch that was to be merged into. */
  | { readonly kind: 'moved' }

/** What became of a worktree that was to go. */
export type RemoveResult =
  | { readonly kind: 'gone' }
  /** Something in it is nowhere else: what, in a sentence. */
  /** `isDirty`: all that stands in the way are files that are not committed, and `rewind` can keep those. */
  | { readonly kind: 'kept'; readonly reason: string; readonly isDirty?: boolean }

/** What there is around a folder. */
export interface RepositoryState {
  readonly top: string
  /** Null when none is checked out. */
  readonly branch: string | null
  /** Null in a repository without a commit. */
  readonly head: string | null
  /** Whether there is nothing to commit, untracked files included. */
  readonly isClean: boolean
  /** Of this working tree: where git keeps its HEAD and its index. */
  readonly gitDir: string
}

/** What is checked out; null for no commit, and for no branch. */
export interface Head {
  readonly commit: string | null
  readonly branch: string | null
  /** Bytes of its reflog; 0 where none is kept. */
  readonly reflog: number
}

/** A setting by which git does not use a checkout. `cure`: a line for a shell that corrects it. */
export interface Hindrance {
  readonly what: string
  readonly cure: string
}

/** How a checkout came back to a branch. `from`: what was checked out instead. */
export type ReturnResult =
  | { readonly kind: 'there' }
  /** The branch has followed to what is checked out. */
  | { readonly kind: 'followed'; readonly from: string }
  /** HEAD named another branch without a checkout, and names this one again; no file was touched. */
  | { readonly kind: 'pointed'; readonly from: string }
  /** It is checked out again; `head` is what was. */
  | { readonly kind: 'returned'; readonly from: string; readonly head: string | null }
  | { readonly kind: 'stuck'; readonly from: string; readonly why: string }

export interface EvidenceOptions {
  readonly worker?: WorkerTrace | null
  /** Commits that were written before this, and only picked or rebased since, do not count, nor does content of other branches. */
  readonly begunAt?: Instant
  /** The branch of the work; absent or null for the one that the user has checked out. */
  readonly branch?: string | null
  /** As for `snapshot`. */
  readonly backupName?: string
}

/** Whose work is looked for in a checkout that others use as well. */
export interface WorkerTrace {
  /** The file that its git commands are written to: `GIT_TRACE2_EVENT`. */
  readonly trace: string
  readonly since: Instant
}

/** What the user has named in a repository: branches and tags by their full names, and the commits of stashes. */
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

/** A file by its path, as git keeps it, and its `MODE HASH`. */
export interface TreeFile {
  readonly path: string
  readonly entry: string
}

/** The list of tasks in a branch that lands. */
export interface LandedList {
  /** Its path from the top of a working tree, each byte as one character. */
  readonly file: string
  /** Ticks in the working tree with this top the boxes of all that lands. */
  readonly tick: (top: string) => Promise<void>
}

/** A working tree of its own on a branch of its own. */
export interface Worktree {
  readonly path: string
  readonly branch: string
}

/**
 * Has several people work on one repository without getting in each other's way. Every call may be repeated, also after a
 * `kill -9` in the midst of it, and then finds or finishes what was begun. Calls that write wait for each other, whichever
 * process they come from; a lock that somebody else holds is waited for. The user's checkout, index, HEAD and branch are
 * touched by `land` alone. No hook of the repository is run, nothing asks for a password or an editor. What goes wrong is
 * thrown as `Trouble`; `mayHelpToRetry` is false when the answer stays no until somebody does something about it.
 */
export interface Worktrees {
  /** The repository around this folder; null when there is none. */
  inspect(cwd: string): Promise<RepositoryState | null>
  /** Makes a repository of a folder that is none, with a first commit of what lies in it; one that is there stays. */
  initRepository(cwd: string): Promise<void>
  /**
   * Remembers what lies there now. The last one of each working tree is kept by a ref, those before as long as git keeps what
   * nothing leads to: two weeks. With `keepAs` it is also kept by `refs/oneshot-loop/work/NAME`.
   */
  snapshot(cwd: string, backupName?: string): Promise<Snapshot>
  /**
   * What has changed since. `apart`: files or folders, relative to `cwd`, that do not count; nor does `.agent/`. Where git has
   * lost what lay there, what HEAD was then stands for it. Commits that came from elsewhere do not count, nor, with `worker`, those
   * that others made.
   */
  collectEvidence(
    cwd: string,
    since: Snapshot,
    excludedPaths: readonly string[],
    how?: EvidenceOptions,
  ): Promise<DetailedEvidence>
  /** What is different between both of each pair of trees or commits; null where git has lost one of them. */
  diffTrees(
    cwd: string,
    pairs: readonly (readonly [from: string, to: string])[],
  ): Promise<(readonly FileChange[] | null)[]>
  /** What a tree or commit has at each path, as `MODE HASH`. */
  listTree(cwd: string, tree: string): Promise<ReadonlyMap<string, string>>
  /** The files that git knows or would add, from the top, and those that it ignores; a folder that it ignores ends with a slash. */
  listFiles(cwd: string): Promise<{ top: string; files: readonly string[]; ignored: readonly string[] }>
  /** What these blobs hold, as text of at most 1 MB, by their hash. */
  readBlobs(cwd: string, hashes: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** Of these paths of the first tree those whose content the second one has elsewhere. */
  findMovedPaths(
    cwd: string,
    pair: readonly [from: string, to: string],
    paths: readonly string[],
  ): Promise<ReadonlySet<string>>
  /** Of these commits those that HEAD, or another commit, does not follow, oldest first. */
  findUnreachable(cwd: string, commits: readonly string[], from?: string): Promise<readonly string[]>
  /** The file that the git commands of a worker are to be written to: `GIT_TRACE2_EVENT`. Null where git does not do that. */
  traceFile(cwd: string, name: string): Promise<string | null>
  /**
   * Has a branch checked out again in the user's checkout, with what was committed since if that follows it. Nothing that is not
   * committed is written over. A branch that is gone is made anew at `since.head`. `since`: what was seen before somebody left the branch.
   */
  returnToBranch(cwd: string, branch: string, since: Pick<Snapshot, 'head' | 'reflog'> | null): Promise<ReturnResult>
  head(cwd: string): Promise<Head>
  /** Settings by which git does not take the files around its folder for its working tree; asked also where that is so. */
  hindrances(cwd: string): Promise<readonly Hindrance[]>
  /** Files of a commit that are not in this checkout. */
  deleted(cwd: string, commit: string): Promise<readonly string[]>
  /** Whether HEAD came to name this branch without a checkout: then the files are those of the branch before. */
  wasPointed(cwd: string, before: Head, branch: string | null): Promise<boolean>
  /** Null where they cannot be read without git. Branches of loops are not among them. */
  userRefs(cwd: string): Promise<UserRefs | null>
  /** The git commands that were written down there. */
  readTrace(trace: string): readonly GitCommand[]
  /** Keeps what these refs led to, each at `refs/oneshot-loop/work/NAME/` and its own name after `refs/`. */
  backUpRefs(cwd: string, name: string, refs: ReadonlyMap<string, string>): Promise<void>
  /** Whether git commands that were written down there may have changed this checkout, or what its branch leads to. */
  hasChangedCheckout(cwd: string, trace: string): Promise<boolean>
  /** Keeps a commit from being collected as garbage, by `refs/oneshot-loop/work/NAME`. */
  backUpCommit(cwd: string, name: string, commit: string): Promise<void>
  /**
   * Makes a tree of nothing but these files, and keeps it from being collected as garbage below `refs/oneshot-loop/work/NAME`. Answers
   * its id.
   */
  backUpFiles(cwd: string, name: string, files: readonly TreeFile[]): Promise<string>
  /**
   * Makes a worktree and its branch anew where somebody has removed them: the branch where it last was, as far as that is known, else
   * at `commit`. Answers what was missing.
   */
  repair(cwd: string, worktree: Worktree, commit: string): Promise<'folder' | 'branch' | null>
  /** Where a branch stands; null when there is none of that name. */
  branchTip(cwd: string, branch: string): Promise<string | null>
  /** The newest commits of HEAD, newest first. */
  log(cwd: string, limit: number): Promise<readonly { id: string; subject: string }[]>
  /**
   * Opens a worktree on a new branch that begins at a commit and follows no other. One that is there by both names is taken as
   * it is, and so is a branch that has no worktree. The entries of other worktrees stay, whether they are there or not.
   */
  open(cwd: string, worktree: Worktree, from: string): Promise<void>
  /**
   * Commits all that is not committed in a worktree of ours, with what the user calls himself, else as oneshot; the given
   * paths, relative to the worktree, and `.agent/` are as they were where the work parted from `base`, also where something
   * else was committed of them. A merge that was begun becomes one, if its conflicts are resolved. What was committed on
   * another branch, or on none, counts if it follows this one. Left where they are: files of more than 50 MB and new
   * repositories. Answers the commit.
   *
   * With `judged` what was seen then is committed, and nothing that came since: that stays where it is, and so does a branch that
   * has moved on.
   */
  commitAll(
    worktree: Worktree,
    message: string,
    excludedPaths: readonly string[],
    base: string,
    verifiedSnapshot?: Snapshot,
  ): Promise<string>
  /**
   * Merges a branch or commit into what is checked out at `bench`, which must be the commit `onto`, always as a commit of its own, with
   * this message. One that is contained already is answered as merged. A conflict leaves everything as it was. Nothing is done while a file that git
   * knows is changed and has more than 50 MB: that could not be taken back.
   */
  merge(worktree: Worktree, branch: string, message: string, onto?: string): Promise<MergeResult>
  /**
   * Begins a merge and leaves the conflict in the files, for somebody to resolve; one that is begun already stays. Answers the
   * files that are not resolved. `seal` ends it.
   */
  startMerge(worktree: Worktree, branch: string): Promise<readonly string[]>
  /**
   * Commits these paths, as seen from its top, of a worktree of ours and nothing else; nothing is done where they are unchanged
   * or ignored. `onto`: what must be checked out. Answers where the branch stands.
   */
  commitPaths(worktree: Worktree, paths: readonly string[], message: string, onto?: string): Promise<string>
  /**
   * Removes a worktree and its branch, if all of it, ignored files left aside, is in the branch `into`; else both stay. What
   * `rewind` has kept of the branch goes with it if `into` has its commits and the contents of its files; else that stays.
   */
  remove(cwd: string, worktree: Worktree, into: string): Promise<RemoveResult>
  /**
   * Moves the branch of a worktree of ours back to a commit, files included; ignored ones stay. What no other branch has, or
   * was not committed, is kept by `refs/oneshot-loop/kept/BRANCH`, with `+` for each `/` in the name. What cannot be kept,
   * because it has more than 50 MB or may not be read, stays where it is; where that is not possible nothing is done.
   */
  reset(worktree: Worktree, commit: string): Promise<void>
  /**
   * Brings a branch into what the user has checked out at `cwd`: forward where possible, else as a merge. Throws `Trouble` with
   * nothing done when something is in the way: files that are changed, a conflict, another merge. A conflict in the list of tasks
   * alone is resolved.
   */
  land(
    cwd: string,
    branch: string,
    message: string,
    how?: { readonly isSquash?: boolean; readonly isDry?: boolean; readonly list?: LandedList },
  ): Promise<{ commit: string; isForward: boolean }>
}
