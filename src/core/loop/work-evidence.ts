import type { DiffStat } from '../checkpoint/checkpoint.ts'

/** The state of a working tree at one moment, which git can restore. */
export interface Snapshot {
  /** Null in a repository without a commit. */
  readonly head: string | null
  /** The whole content, untracked files included, as a tree object. */
  readonly tree: string
  /** The size of HEAD's reflog at that moment, in bytes. Absent: all entries came later. */
  readonly reflog?: number
}

/** One path in two trees: the entry in each of them, as `MODE HASH`; null for none. */
export interface FileChange {
  /** From the top of the working tree, as git stores it: each byte is one character. */
  readonly path: string
  readonly before: string | null
  readonly after: string | null
}

/** A file that differs from before. */
export interface ChangedFile extends FileChange {
  /** The path for people, relative to the folder of the work. */
  readonly name: string
  readonly added: number
  readonly removed: number
  readonly isCommitted: boolean
  /** True if the worker changed the file; else the change came from elsewhere. */
  readonly isOwn: boolean
}

/** The work that git shows. */
export interface WorkEvidence {
  /** New commits of the worker, newest first, a dozen at most. */
  readonly commits: readonly { readonly id: string; readonly subject: string }[]
  /** The number of all new commits. */
  readonly commitCount: number
  /** The files that differ from before, committed or not, except the list itself; and the first dozen of them. */
  readonly change: DiffStat
  readonly files: readonly string[]
  /** The number of uncommitted files among them. */
  readonly uncommitted: number
  /** The present snapshot. */
  readonly now: Snapshot
  /** The number of commits that others made or that came from elsewhere meanwhile. Absent: none. */
  readonly foreign?: number
  /**
   * Paths that changed meanwhile and are not the task's work: somebody else changed them, or the change removes finished
   * work of another task. The audit needs them after a restart. Absent: none.
   */
  readonly notOwn?: readonly string[]
}

/** Commits from before the work that the branch has lost since. */
export interface DroppedCommits {
  /** Newest first, 1,000 at most. */
  readonly ids: readonly string[]
  /** The changes that these commits made. */
  readonly files: readonly FileChange[]
  /** False if the branch has no commit of that history any more. */
  readonly hasCommonBase: boolean
  /** True if a git command of the worker removed them, false if somebody else did; null if that is unknown. */
  readonly isByWorker: boolean | null
}

/** The evidence with each file, for a closer inspection. */
export interface DetailedEvidence extends WorkEvidence {
  readonly changed: readonly ChangedFile[]
  /** Paths that differ from the last commit, whenever they changed. */
  readonly loose: ReadonlySet<string>
  /** The git operation that is unfinished; null for none. */
  readonly underWay: string | null
  /** Files in conflict according to git, and files with new conflict markers. */
  readonly conflicts: readonly string[]
  /** Git has lost the state from before the work: the evidence shows no change. */
  readonly isBaselineLost?: true
  /** Absent: none. */
  readonly dropped?: DroppedCommits
}

const MAX_LISTED = 12
/** Enough for the files of a pull; the loop's record must stay small. */
const MAX_NOT_OWN = 2_000

/** Returns the evidence of exactly these files, with the paths of the changes that do not count. */
export function evidenceOf(
  known: Pick<WorkEvidence, 'commits' | 'commitCount' | 'now' | 'foreign'>,
  changed: readonly ChangedFile[],
  notOwn: readonly string[] = [],
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
    ...(notOwn.length > 0 && { notOwn: notOwn.slice(0, MAX_NOT_OWN) }),
  }
}

/** A commit that changes nothing is no work. */
export function hasWork({ change }: WorkEvidence): boolean {
  return change.files > 0
}
