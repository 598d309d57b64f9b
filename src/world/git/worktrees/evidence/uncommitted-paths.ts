import type { RawPath } from '../../../../lib/text/raw-path.ts'
import type { StagedWorkingTree } from '../stage-working-tree.ts'

type Entries = Map<RawPath, string | null>

/**
 * Returns the paths in which a snapshot differs from HEAD, by the status of the private index before its update and by
 * the changes of the update. Returns null if these do not show it; then git has to compare the trees.
 */
export function uncommittedPaths({ status, changes }: Pick<StagedWorkingTree, 'status' | 'changes'>): RawPath[] | null {
  const { differences } = status
  if (changes === null || differences.some(({ isUnmerged, isRepository }) => isUnmerged || isRepository)) return null
  // A path without a difference is in HEAD as it was in the index.
  const inHead: Entries = new Map(changes.map(({ path, before }) => [path, before]))
  const now: Entries = new Map()
  // git gives no entries for an untracked file; a second difference of the same path may give them.
  for (const { path } of differences) for (const entries of [inHead, now]) entries.set(path, null)
  for (const difference of differences) {
    if (difference.inHead === null) continue
    inHead.set(difference.path, presentEntry(difference.inHead))
    now.set(difference.path, presentEntry(difference.inIndex))
  }
  for (const { path, after } of changes) now.set(path, after)
  return [...now].flatMap(([path, entry]) => (entry === inHead.get(path) ? [] : [path]))
}

/** Zeros mean no entry. */
function presentEntry(entry: string | null): string | null {
  return entry === null || entry.startsWith('000000 ') ? null : entry
}
