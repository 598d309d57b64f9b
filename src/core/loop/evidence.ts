import type { Change } from '../checkpoint.ts'

/** The state of a working tree at one moment, as git can bring it back. */
export interface Snapshot {
  /** Null in a repository without a commit. */
  readonly head: string | null
  /** Everything that lay there, untracked files included, as a tree object. */
  readonly tree: string
}

/** What git shows of a piece of work. */
export interface Evidence {
  /** New commits, newest first, a dozen at most. */
  readonly commits: readonly { readonly id: string; readonly subject: string }[]
  /** How many there are in all. */
  readonly commitCount: number
  /** Files that are different from before, committed or not, the list itself left aside; and the first dozen of them. */
  readonly change: Change
  readonly files: readonly string[]
  /** How many of them are not committed. */
  readonly uncommitted: number
  /** Where it stands now. */
  readonly now: Snapshot
}

/** A commit that changes nothing is no work. */
export function hasWork({ change }: Evidence): boolean {
  return change.files > 0
}
