import { displayPath } from '../../../lib/text/raw-path.ts'
import { requestMark, findTask, addNotes, updateTask, updateLastIteration } from '../loop-updates.ts'
import type { FileChange, Snapshot, WorkEvidence } from '../work-evidence.ts'
import type { TaskFailure, Loop, LoopTask, PreviousCompletion } from '../loop-state.ts'
import {
  canBeListed,
  MAX_LISTED_PATHS,
  removePathsCommand,
  restorePathsCommand,
  restoreTreeCommand,
  shortHash,
  trackPathsCommand,
} from './restore-command.ts'

/** Work that existed and is gone. */
export interface LostWork {
  /** The finished task; null for the user's files that were uncommitted when the loop began. */
  readonly task: string | null
  /** The loss, in a sentence. */
  readonly what: string
  /** A shell command line that restores the work; null if git has deleted it. */
  readonly cure: string | null
  /** The part of the work that still exists. */
  readonly kept: readonly FileChange[]
}

/** The snapshots before and after a piece of work. */
export interface WorkSpan {
  readonly since: Snapshot
  readonly now: Snapshot
  /** Paths that changed within the span and are not part of the work. */
  readonly notOwn?: readonly string[]
}

/** The loop blocks a task that others undid this often, so that two tasks that undo each other end. */
const MAX_REOPENINGS = 3

/** Returns the span of a finished task; null without evidence. */
export function workSpan(task: LoopTask): WorkSpan | null {
  const place = task.tries.at(-1)?.role === 'resolve' ? task.resolution : task.checkout
  if (task.state.name !== 'done' || task.evidence === null || place === null) return null
  return spanOf(place.since, task.evidence)
}

/** Returns the span from this snapshot to the evidence. */
export function spanOf(since: Snapshot, { now, notOwn = [] }: WorkEvidence): WorkSpan {
  return { since, now, notOwn }
}

/**
 * Returns the paths of finished work that these changes remove: the file is gone or empty, it is as it was before that
 * work, or something else than a file is in its place. A file that is only edited further is no loss.
 */
export function findLostPaths(work: readonly FileChange[], changes: readonly FileChange[]): string[] {
  const done = new Map(work.map(change => [change.path, change]))
  return changes.flatMap(({ path, before, after }) => {
    const own = done.get(path)
    if (own === undefined || before === after || after === own.after) return []
    return after === own.before || isEntryLost(own.after, after) ? [path] : []
  })
}

/** Returns true if nothing of an entry is left in its successor. */
export function isEntryLost(own: string | null, after: string | null): boolean {
  if (after === null || own === null) return after === null
  return entryType(own) !== entryType(after) || (isEmptyFile(after) && !isEmptyFile(own))
}

/** Returns the type of an entry (a file, a link, or another repository): the first digits of git's mode. */
function entryType(entry: string): string {
  return entry.slice(0, 3)
}

/** The hashes of an empty file, in SHA-1 and SHA-256. */
const EMPTY_FILE =
  /^100\d+ (?:e69de29bb2d1d6434b8b29ae775ad8c2e48c5391|473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813)$/

function isEmptyFile(entry: string): boolean {
  return EMPTY_FILE.test(entry)
}

/** The commits of a piece of work that the branch has lost. */
export interface UnreachableCommits {
  /** The commits that the branch no longer contains, oldest first. */
  readonly ids: readonly string[]
  /** True if `git cherry-pick` restores all of the work, without an obstacle. */
  readonly canBePicked: boolean
}

/** Describes the loss of a piece of work, and the command that restores it. */
export function describeLostWork(lost: {
  readonly task: string | null
  readonly work: readonly FileChange[]
  readonly paths: readonly string[]
  readonly span: WorkSpan
  readonly dropped: UnreachableCommits
  /** Git has deleted the objects of the work: no command restores it. */
  readonly isDeleted: boolean
  /** The name of the branch. */
  readonly branch: string
  /** True if the user's shell is at the top of the checkout. */
  readonly isTop: boolean
  /** A tree of only the lost files, if they are too many or too unusual to list. */
  readonly tree: string | null
  /** Those of the paths that git ignores now; true if the file exists. */
  readonly ignored: ReadonlyMap<string, boolean>
}): LostWork {
  const { task, work, paths, dropped, span, isTop, ignored } = lost
  const kept = remainingWork(work, paths)
  const ids = dropped.ids.map(shortHash)
  const commits = ids.length === 1 ? `commit ${ids[0]} is` : `commits ${formatFew(ids)} are`
  const gone = ids.length === 0 ? null : `${commits} no longer on ${lost.branch} (${formatFew(paths.map(displayPath))})`
  if (gone !== null && dropped.canBePicked) return { task, what: gone, cure: `git cherry-pick ${ids.join(' ')}`, kept }
  const files = pathsWritten(work, paths)
  if (files.length === 0) {
    const what = `${formatFew(paths.map(displayPath))} ${paths.length === 1 ? 'is' : 'are'} back`
    return { task, what, cure: removePathsCommand([treeName(span.since), span.now.tree], paths, isTop), kept }
  }
  if (lost.tree === null && files.every(path => ignored.get(path) === true)) {
    const what = `git ignores ${formatFew(files.map(displayPath))} now, and does not track ${files.length === 1 ? 'it' : 'them'} any more`
    return { task, what, cure: trackPathsCommand(files, isTop), kept }
  }
  const isIgnored = files.some(path => ignored.has(path))
  const what =
    gone ??
    `${formatFew(files.map(displayPath))} ${files.length === 1 ? 'is gone, or has its old content' : 'are gone, or have their old content'}`
  if (lost.isDeleted) return { task, what: `${what}, and git has deleted its content`, cure: null, kept }
  const cure =
    lost.tree === null
      ? restorePathsCommand(span.now.tree, files, isTop, { isIgnored })
      : restoreTreeCommand(lost.tree, { isIgnored })
  return { task, what, cure, kept }
}

/** Describes a loss together with its cure. */
export function describeCure({ what, cure }: Pick<LostWork, 'what' | 'cure'>): string {
  return cure === null ? `${what}: it must be done again` : `${what}; \`${cure}\` brings it back`
}

/** Returns those of these paths that the work created or changed, and did not remove. */
export function pathsWritten(work: readonly FileChange[], paths: readonly string[]): string[] {
  const made = new Set(work.flatMap(({ path, after }) => (after === null ? [] : [path])))
  return paths.filter(path => made.has(path))
}

/** Returns true if the restore of these paths needs a tree of their own. */
export function needsTree(work: readonly FileChange[], paths: readonly string[]): boolean {
  const files = pathsWritten(work, paths)
  return files.length > 0 && !canBeListed(files)
}

/** A snapshot may have the name of its commit: `COMMIT^{tree}`. */
function treeName({ tree }: Snapshot): string {
  return tree.replace('^{tree}', '')
}

export function formatFew(words: readonly string[]): string {
  return words.length <= MAX_LISTED_PATHS
    ? words.join(', ')
    : `${words.slice(0, MAX_LISTED_PATHS).join(', ')} and ${words.length - MAX_LISTED_PATHS} more`
}

/** The loop's file holds them, and oneshot writes that file after each decision. */
const MAX_REMAINING = 500

function remainingWork(work: readonly FileChange[], paths: readonly string[]): FileChange[] {
  const lost = new Set(paths)
  return work.filter(({ path }) => !lost.has(path)).slice(0, MAX_REMAINING)
}

/** Reopens finished tasks whose work is lost. `by`: the task whose agent undid it; null if that is unknown. */
export function reopenTasks(
  loop: Loop,
  losses: readonly LostWork[] | undefined,
  { at, by }: { at: number; by: LoopTask | null },
): Loop {
  const who = by === null ? null : `the agent of task ${by.item.label}`
  return (losses ?? []).reduce((after, loss) => {
    if (loss.task !== null) return reopenTask(after, loss, at, who)
    const note = `your uncommitted files: ${loss.what}${who === null ? '' : `, after ${who} worked here`}`
    return addNotes(after, [loss.cure === null ? note : `${note}; \`${loss.cure}\` brings them back`])
  }, loop)
}

function reopenTask(loop: Loop, { task: key, kept, ...lost }: LostWork, at: number, who: string | null): Loop {
  const task = key === null ? undefined : findTask(loop, key)
  if (key === null || task?.state.name !== 'done') return loop
  const reopened = (task.reopened ?? 0) + 1
  const isLast = reopened >= MAX_REOPENINGS
  const loss = describeCure(lost)
  const reason = `its work was undone${who === null ? '' : ` by ${who}`}: ${loss}`
  const failure: TaskFailure = {
    kind: 'lost',
    reason: isLast ? `${reason} (undone ${reopened} times)` : reason,
    detail: '',
  }
  const state = isLast ? ({ name: 'blocked', at, failure } as const) : ({ name: 'open' } as const)
  const changed = updateTask(loop, key, one => ({
    ...updateLastIteration(one, { failure, verdict: failure.reason }),
    state,
    checkout: null,
    reopened,
    remainingWork: kept,
    ...previousCompletion(task),
  }))
  const note = `task ${task.item.label} was ${isLast ? 'blocked' : 'opened again'}: ${loss}`
  return addNotes(requestMark(changed, key, false, failure.reason), [note])
}

/** Returns the data that closes the task again if its work comes back. */
function previousCompletion({ state, checkout, resolution, evidence }: LoopTask): {
  previousCompletion?: PreviousCompletion
} {
  return state.name === 'done' && evidence !== null
    ? { previousCompletion: { state, checkout, resolution, evidence } }
    : {}
}

/** Closes a reopened task as before, because somebody has restored its lost work. */
export function onWorkRestored(loop: Loop, { at, task: key }: { at: number; task: string }): Loop {
  const task = findTask(loop, key)
  if (task?.state.name !== 'opening' || task.previousCompletion === undefined) return loop
  const { state, checkout, resolution, evidence } = task.previousCompletion
  const verdict = 'its work is back'
  const { previousCompletion: _, ...rest } = updateLastIteration(task, { verdict, until: at })
  const back = updateTask(loop, key, () => ({ ...rest, state, checkout, resolution, evidence }))
  return requestMark(back, key, true, verdict)
}
