import type { FileChange } from '../work-evidence.ts'

/** A file of finished work that has lost most of the lines that the work added. */
export interface RemovedLines {
  readonly path: string
  /** The number of lines that the work added, and how many of them are gone. */
  readonly all: number
  readonly gone: number
}

/** Lines; fewer are an ordinary edit. */
const MIN_REMOVED = 2
const REMOVED_SHARE = 0.5

/** Returns those of these changes that may remove lines of finished work: edits of its files. */
export function findEdits(
  work: readonly FileChange[],
  changes: readonly (FileChange & { readonly removed?: number })[],
): { readonly own: FileChange; readonly change: FileChange }[] {
  const done = new Map(work.map(own => [own.path, own]))
  return changes.flatMap(change => {
    const own = done.get(change.path)
    if (own === undefined || change.removed === 0 || change.before === change.after) return []
    const isEdit = [own.after, change.before, change.after].every(entry => entry?.startsWith('100') === true)
    return isEdit && change.after !== own.after ? [{ own, change }] : []
  })
}

/**
 * Returns the loss if an edit removes half of the lines that a piece of work added, or null. Only the edit after which
 * less than half is left counts, so the loop reports a loss once. `elsewhere`: lines that the same edit added to other
 * files.
 */
export function findRemovedLines(
  { own, change }: { own: FileChange; change: FileChange },
  linesOf: (entry: string | null) => LineCounts,
  elsewhere: LineCounts,
): RemovedLines | null {
  const added = subtractLines(linesOf(own.after), linesOf(own.before))
  const [before, after] = [linesOf(change.before), linesOf(change.after)]
  const had = countCommonLines(added, before)
  const has = countCommonLines(added, addLines(after, elsewhere))
  const all = totalCount(added)
  const gone = all - has
  const isThinned = had - has >= MIN_REMOVED && gone >= all * REMOVED_SHARE && all - had < all * REMOVED_SHARE
  return isThinned ? { path: change.path, all, gone } : null
}

/** The number of occurrences of each line. */
export type LineCounts = ReadonlyMap<string, number>

/** Counts the lines that are not blank. */
export function countLines(text: string): LineCounts {
  const lines = new Map<string, number>()
  for (const line of text.split('\n').map(one => one.trim()))
    if (line !== '') lines.set(line, (lines.get(line) ?? 0) + 1)
  return lines
}

export function subtractLines(lines: LineCounts, others: LineCounts): LineCounts {
  const left = [...lines].map(([line, count]) => [line, count - (others.get(line) ?? 0)] as const)
  return new Map(left.filter(([, count]) => count > 0))
}

export function addLines(lines: LineCounts, others: LineCounts): LineCounts {
  const sum = new Map(lines)
  for (const [line, count] of others) sum.set(line, (sum.get(line) ?? 0) + count)
  return sum
}

function countCommonLines(lines: LineCounts, others: LineCounts): number {
  return totalCount(new Map([...lines].map(([line, count]) => [line, Math.min(count, others.get(line) ?? 0)])))
}

function totalCount(lines: LineCounts): number {
  return [...lines.values()].reduce((all, count) => all + count, 0)
}
