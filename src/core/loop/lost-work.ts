import { displayPath } from '../../lib/text/raw-path.ts'
import { requestMark, findTask, addNotes, updateTask, updateLastIteration } from './update.ts'
import type { FileChange, Snapshot } from './evidence.ts'
import type { TaskFailure, Loop, LoopTask, PreviousCompletion } from './loop.ts'
import {
  canBeListed,
  MAX_LISTED_PATHS,
  removePathsCommand,
  restorePathsCommand,
  restoreTreeCommand,
  shortHash,
} from './restore-command.ts'

/** Work that was there and is not there any more. */
export interface LostWork {
  /** The finished task; null for files of the user's that were not committed when the loop began. */
  readonly task: string | null
  /** What happened, as a sentence. */
  readonly what: string
  /** A line for a shell that brings it back. */
  readonly cure: string
  /** What of that work is still there. */
  readonly kept: readonly FileChange[]
}

/** The states between which a piece of work was done. */
export interface WorkSpan {
  readonly since: Snapshot
  readonly now: Snapshot
}

/** A task that was undone this often is blocked, so that two tasks that undo each other come to an end. */
const MAX_REOPENINGS = 3

/** Of a finished task; null where nothing was seen of it. */
export function workSpan(task: LoopTask): WorkSpan | null {
  const place = task.tries.at(-1)?.role === 'resolve' ? task.resolution : task.place
  if (task.stand.name !== 'done' || task.evidence === null || place === null) return null
  return { since: place.since, now: task.evidence.now }
}

/**
 * Paths of finished work that these changes take away: the file is gone or empty, it is as it was before that work, or something else
 * than a file lies in its place. A file that is only edited further is no loss.
 */
export function findLostPaths(work: readonly FileChange[], changes: readonly FileChange[]): string[] {
  const done = new Map(work.map(change => [change.path, change]))
  return changes.flatMap(({ path, before, after }) => {
    const own = done.get(path)
    if (own === undefined || before === after || after === own.after) return []
    return after === own.before || isEntryLost(own.after, after) ? [path] : []
  })
}

/** Whether nothing is left of an entry by the one that follows it. */
export function isEntryLost(own: string | null, after: string | null): boolean {
  if (after === null || own === null) return after === null
  return entryType(own) !== entryType(after) || (isEmptyFile(after) && !isEmptyFile(own))
}

/** A file, a link, or another repository: the first letters of git's mode. */
function entryType(entry: string): string {
  return entry.slice(0, 3)
}

/** The hashes of a file without a byte, as git makes them of SHA-1 and SHA-256. */
const EMPTY_FILE =
  /^100\d+ (?:e69de29bb2d1d6434b8b29ae775ad8c2e48c5391|473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813)$/

function isEmptyFile(entry: string): boolean {
  return EMPTY_FILE.test(entry)
}

/** How the commits of a piece of work stand. */
export interface UnreachableCommits {
  /** Those that the branch does not have any more, oldest first. */
  readonly ids: readonly string[]
  /** `git cherry-pick` brings all of the work back: nothing else is in its way. */
  readonly canBePicked: boolean
}

/** Tells what was lost of a piece of work, and how it is brought back. */
export function describeLostWork(lost: {
  readonly task: string | null
  readonly work: readonly FileChange[]
  readonly paths: readonly string[]
  readonly span: WorkSpan
  readonly dropped: UnreachableCommits
  /** What the branch is called. */
  readonly branch: string
  /** The shell that the user types into is at the top of the checkout. */
  readonly isTop: boolean
  /** A tree of nothing but the lost files, where they are too many or too odd to be listed. */
  readonly tree: string | null
}): LostWork {
  const { task, work, paths, dropped, span, isTop } = lost
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
  const what =
    gone ??
    `${formatFew(files.map(displayPath))} ${files.length === 1 ? 'is gone, or has its old content' : 'are gone, or have their old content'}`
  const cure = lost.tree === null ? restorePathsCommand(span.now.tree, files, isTop) : restoreTreeCommand(lost.tree)
  return { task, what, cure, kept }
}

/** Of these paths those that the work has made or changed, and not removed. */
export function pathsWritten(work: readonly FileChange[], paths: readonly string[]): string[] {
  const made = new Set(work.flatMap(({ path, after }) => (after === null ? [] : [path])))
  return paths.filter(path => made.has(path))
}

/** Whether a tree of their own is needed to bring these paths back. */
export function needsTree(work: readonly FileChange[], paths: readonly string[]): boolean {
  const files = pathsWritten(work, paths)
  return files.length > 0 && !canBeListed(files)
}

/** A snapshot may be named by its commit: `COMMIT^{tree}`. */
function treeName({ tree }: Snapshot): string {
  return tree.replace('^{tree}', '')
}

export function formatFew(words: readonly string[]): string {
  return words.length <= MAX_LISTED_PATHS
    ? words.join(', ')
    : `${words.slice(0, MAX_LISTED_PATHS).join(', ')} and ${words.length - MAX_LISTED_PATHS} more`
}

/** They are written down with the loop, which is written after each decision. */
const MAX_REMAINING = 500

function remainingWork(work: readonly FileChange[], paths: readonly string[]): FileChange[] {
  const lost = new Set(paths)
  return work.filter(({ path }) => !lost.has(path)).slice(0, MAX_REMAINING)
}

/** Opens finished tasks again whose work is lost. `by`: who undid it; null where nobody knows. */
export function reopenTasks(
  loop: Loop,
  losses: readonly LostWork[] | undefined,
  { at, by }: { at: number; by: LoopTask | null },
): Loop {
  const who = by === null ? null : `the agent of task ${by.item.label}`
  return (losses ?? []).reduce((after, loss) => {
    if (loss.task !== null) return reopenTask(after, loss, at, who)
    const note = `your uncommitted files: ${loss.what}${who === null ? '' : `, after ${who} worked here`}`
    return addNotes(after, [`${note}; \`${loss.cure}\` brings them back`])
  }, loop)
}

function reopenTask(loop: Loop, { task: key, what, cure, kept }: LostWork, at: number, who: string | null): Loop {
  const task = key === null ? undefined : findTask(loop, key)
  if (key === null || task?.stand.name !== 'done') return loop
  const reopened = (task.reopened ?? 0) + 1
  const isLast = reopened >= MAX_REOPENINGS
  const told = `${what}; \`${cure}\` brings it back`
  const reason = `its work was undone${who === null ? '' : ` by ${who}`}: ${told}`
  const failure: TaskFailure = {
    kind: 'lost',
    reason: isLast ? `${reason} (undone ${reopened} times)` : reason,
    detail: '',
  }
  const stand = isLast ? ({ name: 'blocked', at, flaw: failure } as const) : ({ name: 'open' } as const)
  const changed = updateTask(loop, key, one => ({
    ...updateLastIteration(one, { flaw: failure, verdict: failure.reason }),
    stand,
    place: null,
    reopened,
    kept,
    ...previousCompletion(task),
  }))
  const note = `task ${task.item.label} was ${isLast ? 'blocked' : 'opened again'}: ${told}`
  return addNotes(requestMark(changed, key, false, failure.reason), [note])
}

/** What it takes to close the task again, should its work come back. */
function previousCompletion({ stand, place, resolution, evidence }: LoopTask): { undone?: PreviousCompletion } {
  return stand.name === 'done' && evidence !== null ? { undone: { stand, place, resolution, evidence } } : {}
}

/** The work that was lost is there again, whoever brought it back: the task is done as it was before. */
export function onWorkRestored(loop: Loop, { at, task: key }: { at: number; task: string }): Loop {
  const task = findTask(loop, key)
  if (task?.stand.name !== 'opening' || task.undone === undefined) return loop
  const { stand, place, resolution, evidence } = task.undone
  const verdict = 'its work is back'
  const { undone: _, ...rest } = updateLastIteration(task, { verdict, until: at })
  const back = updateTask(loop, key, () => ({ ...rest, stand, place, resolution, evidence }))
  return requestMark(back, key, true, verdict)
}
