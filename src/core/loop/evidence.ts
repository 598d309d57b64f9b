import type { DiffStat } from '../checkpoint/checkpoint.ts'

/** The state of a working tree at one moment, as git can bring it back. */
export interface Snapshot {
  /** Null in a repository without a commit. */
  readonly head: string | null
  /** Everything that lay there, untracked files included, as a tree object. */
  readonly tree: string
  /** Bytes that git had written down by then of how HEAD moved. Absent: all of it came later. */
  readonly reflog?: number
}

/** One path in two trees: what each of them has there, as `MODE HASH`; null for nothing. */
export interface FileChange {
  /** From the top of the working tree, as git keeps it: each byte is one character. */
  readonly path: string
  readonly before: string | null
  readonly after: string | null
}

/** A file that is different from before. */
export interface ChangedFile extends FileChange {
  /** For people: as seen from where the work happens. */
  readonly name: string
  readonly added: number
  readonly removed: number
  readonly isCommitted: boolean
  /** Whoever worked there has changed it; else it came from elsewhere. */
  readonly isOwn: boolean
}

/** What git shows of a piece of work. */
export interface WorkEvidence {
  /** New commits of whoever worked there, newest first, a dozen at most. */
  readonly commits: readonly { readonly id: string; readonly subject: string }[]
  /** How many there are in all. */
  readonly commitCount: number
  /** Files that are different from before, committed or not, the list itself left aside; and the first dozen of them. */
  readonly change: DiffStat
  readonly files: readonly string[]
  /** How many of them are not committed. */
  readonly uncommitted: number
  /** Where it stands now. */
  readonly now: Snapshot
  /** Commits that others made or that came from elsewhere meanwhile. Absent: none. */
  readonly foreign?: number
}

/** The same with each file, for those who look closer. */
export interface DetailedEvidence extends WorkEvidence {
  readonly changed: readonly ChangedFile[]
  /** Paths that are not as the last commit has them, whenever that came about. */
  readonly loose: ReadonlySet<string>
  /** What git was left in the middle of; null for nothing. */
  readonly underWay: string | null
  /** Files that git knows to be in conflict, and files with marks of one that were not there before. */
  readonly conflicts: readonly string[]
}

const MAX_LISTED = 12

/** Evidence of these files and no others. */
export function evidenceOf(
  known: Pick<WorkEvidence, 'commits' | 'commitCount' | 'now' | 'foreign'>,
  changed: readonly ChangedFile[],
): WorkEvidence {
  return {
    commits: known.commits.slice(0, MAX_LISTED),
    commitCount: known.commitCount,
    change: {
      files: changed.length,
      added: changed.reduce((all, { added }) => all + added, 0),
      removed: changed.reduce((all, { removed }) => all + removed, 0),
    },
    files: changed.slice(0, MAX_LISTED).map(({ name }) => name),
    uncommitted: changed.filter(({ isCommitted }) => !isCommitted).length,
    now: known.now,
    ...(known.foreign !== undefined && { foreign: known.foreign }),
  }
}

/** A commit that changes nothing is no work. */
export function hasWork({ change }: WorkEvidence): boolean {
  return change.files > 0
}
