import { shown } from '../../lib/raw-path.ts'
import { marked, taskOf, withNotes, withTask, withTry } from './change.ts'
import type { FileChange, Snapshot } from './evidence.ts'
import type { Flaw, Loop, LoopTask, Undone } from './loop.ts'
import { canBeListed, FEW, removeAgain, restoreListed, restoreWhole, short } from './restore-command.ts'

/** Work that was there and is not there any more. */
export interface Loss {
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
export interface Span {
  readonly since: Snapshot
  readonly now: Snapshot
}

/** A task that was undone this often is blocked, so that two tasks that undo each other come to an end. */
const MOST_REOPENINGS = 3

/** Of a finished task; null where nothing was seen of it. */
export function spanOf(task: LoopTask): Span | null {
  const place = task.tries.at(-1)?.role === 'resolve' ? task.resolution : task.place
  if (task.stand.name !== 'done' || task.evidence === null || place === null) return null
  return { since: place.since, now: task.evidence.now }
}

/**
 * Paths of finished work that these changes take away: the file is gone or empty, it is as it was before that work, or something else
 * than a file lies in its place. A file that is only edited further is no loss.
 */
export function lostPaths(work: readonly FileChange[], changes: readonly FileChange[]): string[] {
  const done = new Map(work.map(change => [change.path, change]))
  return changes.flatMap(({ path, before, after }) => {
    const own = done.get(path)
    if (own === undefined || before === after || after === own.after) return []
    return after === own.before || isTakenAway(own.after, after) ? [path] : []
  })
}

/** Whether nothing is left of an entry by the one that follows it. */
export function isTakenAway(own: string | null, after: string | null): boolean {
  if (after === null || own === null) return after === null
  return kindOf(own) !== kindOf(after) || (isEmpty(after) && !isEmpty(own))
}

/** A file, a link, or another repository: the first letters of git's mode. */
function kindOf(entry: string): string {
  return entry.slice(0, 3)
}

/** The hashes of a file without a byte, as git makes them of SHA-1 and SHA-256. */
const EMPTY =
  /^100\d+ (?:e69de29bb2d1d6434b8b29ae775ad8c2e48c5391|473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813)$/

function isEmpty(entry: string): boolean {
  return EMPTY.test(entry)
}

/** How the commits of a piece of work stand. */
export interface Dropped {
  /** Those that the branch does not have any more, oldest first. */
  readonly ids: readonly string[]
  /** `git cherry-pick` brings all of the work back: nothing else is in its way. */
  readonly canBePicked: boolean
}

/** Tells what was lost of a piece of work, and how it is brought back. */
export function lossOf(lost: {
  readonly task: string | null
  readonly work: readonly FileChange[]
  readonly paths: readonly string[]
  readonly span: Span
  readonly dropped: Dropped
  /** What the branch is called. */
  readonly branch: string
  /** The shell that the user types into is at the top of the checkout. */
  readonly isTop: boolean
  /** A tree of nothing but the lost files, where they are too many or too odd to be listed. */
  readonly tree: string | null
}): Loss {
  const { task, work, paths, dropped, span, isTop } = lost
  const kept = keptWork(work, paths)
  const ids = dropped.ids.map(short)
  const commits = ids.length === 1 ? `commit ${ids[0]} is` : `commits ${few(ids)} are`
  const gone = ids.length === 0 ? null : `${commits} no longer on ${lost.branch} (${few(paths.map(shown))})`
  if (gone !== null && dropped.canBePicked) return { task, what: gone, cure: `git cherry-pick ${ids.join(' ')}`, kept }
  const files = madeOf(work, paths)
  if (files.length === 0) {
    const what = `${few(paths.map(shown))} ${paths.length === 1 ? 'is' : 'are'} back`
    return { task, what, cure: removeAgain([treeOf(span.since), span.now.tree], paths, isTop), kept }
  }
  const what =
    gone ??
    `${few(files.map(shown))} ${files.length === 1 ? 'is gone, or has its old content' : 'are gone, or have their old content'}`
  const cure = lost.tree === null ? restoreListed(span.now.tree, files, isTop) : restoreWhole(lost.tree)
  return { task, what, cure, kept }
}

/** Of these paths those that the work has made or changed, and not removed. */
export function madeOf(work: readonly FileChange[], paths: readonly string[]): string[] {
  const made = new Set(work.flatMap(({ path, after }) => (after === null ? [] : [path])))
  return paths.filter(path => made.has(path))
}

/** Whether a tree of their own is needed to bring these paths back. */
export function needsTree(work: readonly FileChange[], paths: readonly string[]): boolean {
  const files = madeOf(work, paths)
  return files.length > 0 && !canBeListed(files)
}

/** A snapshot may be named by its commit: `COMMIT^{tree}`. */
function treeOf({ tree }: Snapshot): string {
  return tree.replace('^{tree}', '')
}

export function few(words: readonly string[]): string {
  return words.length <= FEW ? words.join(', ') : `${words.slice(0, FEW).join(', ')} and ${words.length - FEW} more`
}

/** They are written down with the loop, which is written after each decision. */
const MOST_KEPT = 500

function keptWork(work: readonly FileChange[], paths: readonly string[]): FileChange[] {
  const lost = new Set(paths)
  return work.filter(({ path }) => !lost.has(path)).slice(0, MOST_KEPT)
}

/** Opens finished tasks again whose work is lost. `by`: who undid it; null where nobody knows. */
export function reopen(
  loop: Loop,
  losses: readonly Loss[] | undefined,
  { at, by }: { at: number; by: LoopTask | null },
): Loop {
  const who = by === null ? null : `the agent of task ${by.item.label}`
  return (losses ?? []).reduce((after, loss) => {
    if (loss.task !== null) return opened(after, loss, at, who)
    const note = `your uncommitted files: ${loss.what}${who === null ? '' : `, after ${who} worked here`}`
    return withNotes(after, [`${note}; \`${loss.cure}\` brings them back`])
  }, loop)
}

function opened(loop: Loop, { task: key, what, cure, kept }: Loss, at: number, who: string | null): Loop {
  const task = key === null ? undefined : taskOf(loop, key)
  if (key === null || task?.stand.name !== 'done') return loop
  const reopened = (task.reopened ?? 0) + 1
  const isLast = reopened >= MOST_REOPENINGS
  const told = `${what}; \`${cure}\` brings it back`
  const reason = `its work was undone${who === null ? '' : ` by ${who}`}: ${told}`
  const flaw: Flaw = { kind: 'lost', reason: isLast ? `${reason} (undone ${reopened} times)` : reason, detail: '' }
  const stand = isLast ? ({ name: 'blocked', at, flaw } as const) : ({ name: 'open' } as const)
  const changed = withTask(loop, key, one => ({
    ...withTry(one, { flaw, verdict: flaw.reason }),
    stand,
    place: null,
    reopened,
    kept,
    ...undoneOf(task),
  }))
  const note = `task ${task.item.label} was ${isLast ? 'blocked' : 'opened again'}: ${told}`
  return withNotes(marked(changed, key, false, flaw.reason), [note])
}

/** What it takes to close the task again, should its work come back. */
function undoneOf({ stand, place, resolution, evidence }: LoopTask): { undone?: Undone } {
  return stand.name === 'done' && evidence !== null ? { undone: { stand, place, resolution, evidence } } : {}
}

/** The work that was lost is there again, whoever brought it back: the task is done as it was before. */
export function onRegained(loop: Loop, { at, task: key }: { at: number; task: string }): Loop {
  const task = taskOf(loop, key)
  if (task?.stand.name !== 'opening' || task.undone === undefined) return loop
  const { stand, place, resolution, evidence } = task.undone
  const verdict = 'its work is back'
  const { undone: _, ...rest } = withTry(task, { verdict, until: at })
  const back = withTask(loop, key, () => ({ ...rest, stand, place, resolution, evidence }))
  return marked(back, key, true, verdict)
}
