import type { FileChange, Weakening } from './file-change.ts'
import { mayHoldTests, sightOf, type TestsIn, testsIn } from './tests-in.ts'

interface Compared {
  readonly change: FileChange
  readonly before: TestsIn | null
  readonly after: TestsIn | null
}

/** Titles that are told; the others are counted. */
const TOLD = 3
const SNAPSHOTS = /(?:^|\/)__snapshots__\/|\.snap$/

/**
 * Finds tests that no longer run: deleted, moved where the runner does not look, commented out, skipped, emptied. A test that was moved
 * with its title is not lost; nor is one whose title was changed, if the file has as many as before.
 */
export function lostTests(changes: readonly FileChange[]): Weakening[] {
  const compared = changes.filter(({ path }) => mayHoldTests(path)).map(compare)
  const found = new Map<string, number>()
  for (const { change, after } of compared)
    for (const title of after?.titles ?? []) add(found, keyOf(change.path, title), 1)
  // Those that were there before are not somewhere to move to.
  for (const { change, before, after } of compared) {
    const kept = new Set(after?.titles)
    for (const title of before?.titles ?? []) if (kept.has(title)) add(found, keyOf(change.path, title), -1)
  }
  return compared.flatMap(one => {
    const what = lossIn(one, found, changes)
    return what === null ? [] : [{ path: one.change.path, what }]
  })
}

function compare(change: FileChange): Compared {
  const { path, before, after } = change
  return {
    change,
    before: before === null ? null : testsIn(path, before),
    after: after === null ? null : testsIn(path, after),
  }
}

/** A runner that finds tests by name does not find them in another file of the folder. */
function keyOf(path: string, title: string): string {
  return `${sightOf(path) === 'folder' ? 'folder' : 'name'} ${title}`
}

function add(found: Map<string, number>, key: string, count: number): void {
  found.set(key, (found.get(key) ?? 0) + count)
}

function lossIn(
  { change, before, after }: Compared,
  found: Map<string, number>,
  changes: readonly FileChange[],
): string | null {
  const { path } = change
  if (before === null) return after === null ? null : turnedOff(after, null)
  const lost = missing(before.titles, after?.titles ?? []).filter(title => !taken(found, keyOf(path, title)))
  if (after === null) return lost.length > 0 ? `was deleted with ${titled(lost)}` : deleted(change, before, changes)
  if (after.isEmpty && !before.isEmpty && sightOf(path) !== null) return 'was emptied'
  const fresh = missing(after.titles, before.titles)
  if (lost.length > fresh.length) return `${titled(lost)} ${lost.length === 1 ? 'is' : 'are'} gone or no longer run`
  const had = new Set(before.titles)
  const bare = [...after.bare].filter(title => had.has(title) && !before.bare.has(title))
  if (bare.length > 0) return `${titled(bare)} ${bare.length === 1 ? 'checks' : 'check'} nothing any more`
  return turnedOff(after, before)
}

/** One test is moved to one place. */
function taken(found: Map<string, number>, key: string): boolean {
  const left = found.get(key) ?? 0
  if (left > 0) found.set(key, left - 1)
  return left > 0
}

/** Also where nobody can tell the tests of a file from the rest of it. */
function deleted({ path, before }: FileChange, { titles }: TestsIn, changes: readonly FileChange[]): string | null {
  if (titles.length > 0 || sightOf(path) === null || SNAPSHOTS.test(path)) return null
  const isSeenThere = (other: string): boolean => sightOf(other) === sightOf(path) && endingOf(other) === endingOf(path)
  const isMoved = changes.some(other => other.before === null && other.after === before && isSeenThere(other.path))
  return isMoved ? null : 'was deleted'
}

/** A script that runs all of a folder goes by the endings of names. */
function endingOf(path: string): string {
  return /\.[^./]*$/.exec(path)?.[0] ?? ''
}

function turnedOff(after: TestsIn, before: TestsIn | null): string | null {
  if (before !== null && [...after.ignored].some(line => before.lines.has(line) && !after.lines.has(line)))
    return 'no longer fails where it failed before'
  if (after.exits > (before?.exits ?? 0)) return 'ends the run with success before its end'
  if (after.onlys > (before?.onlys ?? 0)) return 'has only some of its tests run'
  return after.skips > (before?.skips ?? 0) ? 'has tests skipped' : null
}

function missing(these: readonly string[], those: readonly string[]): string[] {
  const left = new Map<string, number>()
  for (const title of those) add(left, title, 1)
  return these.filter(title => !taken(left, title))
}

function titled(titles: readonly string[]): string {
  const names = titles.slice(0, TOLD).map(title => `“${title}”`)
  const more = titles.length > TOLD ? [`${titles.length - TOLD} more`] : []
  return `${titles.length === 1 ? '1 test' : `${titles.length} tests`} (${[...names, ...more].join(', ')})`
}
