import type { Evidence, Snapshot } from '../core/loop/evidence.ts'

/** What became of a merge. */
export type Merged =
  /** `commit`: where the branch merged into stands now. */
  | { readonly kind: 'merged'; readonly commit: string }
  /** Nothing was changed; these files are different on both sides. */
  | { readonly kind: 'conflict'; readonly files: readonly string[] }

/** What became of a worktree that was to go. */
export type Cleared =
  | { readonly kind: 'gone' }
  /** Something in it is nowhere else: what, in a sentence. */
  | { readonly kind: 'kept'; readonly reason: string }

/** What there is around a folder. */
export interface Surveyed {
  readonly top: string
  /** Null when none is checked out. */
  readonly branch: string | null
  /** Null in a repository without a commit. */
  readonly head: string | null
  /** Whether there is nothing to commit, untracked files included. */
  readonly isClean: boolean
}

/** A working tree of its own on a branch of its own. */
export interface Bench {
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
export interface Workshop {
  /** The repository around this folder; null when there is none. */
  survey(cwd: string): Promise<Surveyed | null>
  /** Makes a repository of a folder that is none, with a first commit of what lies in it; one that is there stays. */
  found(cwd: string): Promise<void>
  /**
   * Remembers what lies there now. The last one of each working tree is kept by a ref, those before as long as git keeps what
   * nothing leads to: two weeks.
   */
  snapshot(cwd: string): Promise<Snapshot>
  /**
   * What has changed since. `apart`: files or folders, relative to `cwd`, that do not count; nor does `.agent/`. Where git has
   * lost what lay there, what HEAD was then stands for it.
   */
  evidence(cwd: string, since: Snapshot, apart: readonly string[]): Promise<Evidence>
  /** Where a branch stands; null when there is none of that name. */
  tip(cwd: string, branch: string): Promise<string | null>
  /** The newest commits of HEAD, newest first. */
  log(cwd: string, limit: number): Promise<readonly { id: string; subject: string }[]>
  /**
   * Opens a worktree on a new branch that begins at a commit and follows no other. One that is there by both names is taken as
   * it is, and so is a branch that has no worktree. The entries of other worktrees stay, whether they are there or not.
   */
  open(cwd: string, bench: Bench, from: string): Promise<void>
  /**
   * Commits all that is not committed in a worktree of ours, with what the user calls himself, else as oneshot; the given
   * paths, relative to the worktree, and `.agent/` are as they were where the work parted from `base`, also where something
   * else was committed of them. A merge that was begun becomes one, if its conflicts are resolved. What was committed on
   * another branch, or on none, counts if it follows this one. Left where they are: files of more than 50 MB and new
   * repositories. Answers where the branch stands.
   */
  seal(bench: Bench, message: string, apart: readonly string[], base: string): Promise<string>
  /**
   * Merges a branch into what is checked out at `bench`, always as a commit of its own, with this message. One that is
   * contained already is answered as merged. A conflict leaves everything as it was. Nothing is done while a file that git
   * knows is changed and has more than 50 MB: that could not be taken back.
   */
  merge(bench: Bench, branch: string, message: string): Promise<Merged>
  /**
   * Begins a merge and leaves the conflict in the files, for somebody to resolve; one that is begun already stays. Answers the
   * files that are not resolved. `seal` ends it.
   */
  clash(bench: Bench, branch: string): Promise<readonly string[]>
  /**
   * Commits these paths, as seen from its top, of a worktree of ours and nothing else; nothing is done where they are unchanged
   * or ignored. Answers where the branch stands.
   */
  commit(bench: Bench, paths: readonly string[], message: string): Promise<string>
  /**
   * Removes a worktree and its branch, if all of it, ignored files left aside, is in the branch `into`; else both stay. What
   * `rewind` has kept of the branch goes with it if `into` has its commits and the contents of its files; else that stays.
   */
  clear(cwd: string, bench: Bench, into: string): Promise<Cleared>
  /**
   * Moves the branch of a worktree of ours back to a commit, files included; ignored ones stay. What no other branch has, or
   * was not committed, is kept by `refs/oneshot-loop/kept/BRANCH`, with `+` for each `/` in the name. What cannot be kept,
   * because it has more than 50 MB or may not be read, stays where it is; where that is not possible nothing is done.
   */
  rewind(bench: Bench, commit: string): Promise<void>
  /**
   * Brings a branch into what the user has checked out at `cwd`: forward where possible, else as a merge. Throws `Trouble` with
   * nothing done when something is in the way: files that are changed, a conflict, another merge.
   */
  land(cwd: string, branch: string, message: string): Promise<{ commit: string; isForward: boolean }>
}
