import type { EditedFile, TamperedFile } from './test-file.ts'
import { mayContainTests, testDiscovery, type TestFile, parseTestFile } from './test-file.ts'

interface TestFileChange {
  readonly change: EditedFile
  readonly before: TestFile | null
  readonly after: TestFile | null
}

/** The number of titles that a message lists; it counts the others. */
const MAX_LISTED = 3
const SNAPSHOTS = /(?:^|\/)__snapshots__\/|\.snap$/

/**
 * Finds tests that no longer run: deleted, moved to a place that the runner ignores, commented out, skipped, emptied. A
 * test that moved with its title is not lost; nor is a renamed test, if the file has as many tests as before.
 */
export function findRemovedTests(changes: readonly EditedFile[]): TamperedFile[] {
  const compared = changes.filter(({ path }) => mayContainTests(path)).map(compareTests)
  const found = new Map<string, number>()
  for (const { change, after } of compared)
    for (const title of after?.titles ?? []) addCount(found, keyOf(change.path, title), 1)
  // A test that was there before is not the new place of a moved one.
  for (const { change, before, after } of compared) {
    const kept = new Set(after?.titles)
    for (const title of before?.titles ?? []) if (kept.has(title)) addCount(found, keyOf(change.path, title), -1)
  }
  return compared.flatMap(one => {
    const what = describeRemoval(one, found, changes)
    return what === null ? [] : [{ path: one.change.path, what }]
  })
}

function compareTests(change: EditedFile): TestFileChange {
  const { path, before, after } = change
  return {
    change,
    before: before === null ? null : parseTestFile(path, before),
    after: after === null ? null : parseTestFile(path, after),
  }
}

/** A runner that finds tests by name does not find them in another file of the folder. */
function keyOf(path: string, title: string): string {
  return `${testDiscovery(path) === 'folder' ? 'folder' : 'name'} ${title}`
}

function addCount(found: Map<string, number>, key: string, count: number): void {
  found.set(key, (found.get(key) ?? 0) + count)
}

function describeRemoval(
  { change, before, after }: TestFileChange,
  found: Map<string, number>,
  changes: readonly EditedFile[],
): string | null {
  const { path } = change
  if (before === null) return after === null ? null : describeDisabling(after, null)
  const lost = missingTitles(before.titles, after?.titles ?? []).filter(title => !takeOne(found, keyOf(path, title)))
  if (after === null)
    return lost.length > 0 ? `was deleted with ${formatTitles(lost)}` : describeDeletion(change, before, changes)
  if (after.isEmpty && !before.isEmpty && testDiscovery(path) !== null) return 'was emptied'
  const fresh = missingTitles(after.titles, before.titles)
  if (lost.length > fresh.length)
    return `${formatTitles(lost)} ${lost.length === 1 ? 'is' : 'are'} gone or no longer run`
  const had = new Set(before.titles)
  const bare = [...after.bare].filter(title => had.has(title) && !before.bare.has(title))
  if (bare.length > 0) return `${formatTitles(bare)} ${bare.length === 1 ? 'checks' : 'check'} nothing any more`
  return describeDisabling(after, before)
}

/** A moved test accounts for one new place. */
function takeOne(found: Map<string, number>, key: string): boolean {
  const left = found.get(key) ?? 0
  if (left > 0) found.set(key, left - 1)
  return left > 0
}

/** Also covers files whose tests the parser cannot recognise. */
function describeDeletion(
  { path, before }: EditedFile,
  { titles }: TestFile,
  changes: readonly EditedFile[],
): string | null {
  if (titles.length > 0 || testDiscovery(path) === null || SNAPSHOTS.test(path)) return null
  const isSeenThere = (other: string): boolean =>
    testDiscovery(other) === testDiscovery(path) && extensionOf(other) === extensionOf(path)
  const isMoved = changes.some(other => other.before === null && other.after === before && isSeenThere(other.path))
  return isMoved ? null : 'was deleted'
}

/** A script that runs all files of a folder selects them by extension. */
function extensionOf(path: string): string {
  return /\.[^./]*$/.exec(path)?.[0] ?? ''
}

function describeDisabling(after: TestFile, before: TestFile | null): string | null {
  if (before !== null && [...after.ignored].some(line => before.lines.has(line) && !after.lines.has(line)))
    return 'no longer fails where it failed before'
  if (after.exits > (before?.exits ?? 0)) return 'ends the run with success before its end'
  if (after.onlys > (before?.onlys ?? 0)) return 'has only some of its tests run'
  return after.skips > (before?.skips ?? 0) ? 'has tests skipped' : null
}

function missingTitles(these: readonly string[], those: readonly string[]): string[] {
  const left = new Map<string, number>()
  for (const title of those) addCount(left, title, 1)
  return these.filter(title => !takeOne(left, title))
}

function formatTitles(titles: readonly string[]): string {
  const names = titles.slice(0, MAX_LISTED).map(title => `“${title}”`)
  const more = titles.length > MAX_LISTED ? [`${titles.length - MAX_LISTED} more`] : []
  return `${titles.length === 1 ? '1 test' : `${titles.length} tests`} (${[...names, ...more].join(', ')})`
}
