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
 * process they come from; a lock that somebody else holds is waited for. The user's checkout, index, HEAD and branch are touched by `land` alone. No
 * hook of the repository is run, nothing asks for a password or an editor. What goes wrong is thrown as `Trouble`.
 */
export interface Workshop {
  /** The repository around this folder; null when there is none. */
  survey(cwd: string): Promise<Surveyed | null>
  /** Makes a repository of a folder that is none, with a first commit of what lies in it; one that is there stays. */
  found(cwd: string): Promise<void>
  /** Remembers what lies there now; git keeps it for weeks at least. */
  snapshot(cwd: string): Promise<Snapshot>
  /** What has changed since. `apart`: paths, relative to `cwd`, that do not count. */
  evidence(cwd: string, since: Snapshot, apart: readonly string[]): Promise<Evidence>
  /** The newest commits of HEAD, newest first. */
  log(cwd: string, limit: number): Promise<readonly { id: string; subject: string }[]>
  /** Opens a worktree on a new branch that begins at a commit and follows no other. One that is there by both names is taken as it is. */
  open(cwd: string, bench: Bench, from: string): Promise<void>
  /**
   * Commits all that is not committed in a worktree of ours, with what the user calls himself, else as oneshot; the given paths go back to what `base`
   * has of them first, and so does what was committed of them. Answers where the branch stands.
   */
  seal(bench: Bench, message: string, apart: readonly string[], base: string): Promise<string>
  /**
   * Merges a branch into what is checked out at `bench`, always as a commit of its own, with this message. One that is contained already is
   * answered as merged. A conflict leaves everything as it was.
   */
  merge(bench: Bench, branch: string, message: string): Promise<Merged>
  /** Begins a merge and leaves the conflict in the files, for somebody to resolve; one that is begun already stays. */
  clash(bench: Bench, branch: string): Promise<readonly string[]>
  /** Commits these paths, as seen from its top, of a worktree of ours and nothing else, where they are changed. Answers where the branch stands. */
  commit(bench: Bench, paths: readonly string[], message: string): Promise<string>
  /** Removes a worktree and its branch, if all of it is in `into` or in no way different from `base`; else both stay. */
  clear(cwd: string, bench: Bench, into: string): Promise<Cleared>
  /** Moves the branch of a worktree of ours back to a commit, files included. What it held stays reachable by its own branch. */
  rewind(bench: Bench, commit: string): Promise<void>
  /**
   * Brings a branch into what the user has checked out at `cwd`: forward where possible, else as a merge. Throws `Trouble` with nothing
   * done when something is in the way: files that are changed, a conflict, another merge.
   */
  land(cwd: string, branch: string, message: string): Promise<{ commit: string; isForward: boolean }>
}
