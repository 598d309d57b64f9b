import { joinRawPaths, type RawPath, splitRawPaths } from '../../../../lib/text/raw-path.ts'
import { NO_INDEX } from '../../git.ts'
import type { RepositoryContext } from '../../repository-context.ts'
import type { Difference, WorkingTreeStatus } from './working-tree-status.ts'
import type { PrivateIndex } from './private-index.ts'

/** The state at the last checkpoint. */
export interface PreviousState {
  readonly tree: string
  readonly head: string | null
}

/**
 * Keeps entries for files that we cannot read from disk: HEAD's version if HEAD has changed there, otherwise the last
 * saved version. Returns true if it changed the private index.
 */
export async function carryOver(
  context: RepositoryContext,
  index: PrivateIndex,
  { paths, seen: status, before }: { paths: readonly RawPath[]; seen: WorkingTreeStatus; before: PreviousState | null },
): Promise<boolean> {
  if (paths.length === 0 || before === null) return false
  const moved = await changedPaths(context, before.head, status.head)
  // A reused index already contains the last saved version.
  const saved = index.record === null ? await readTreeEntries(context, before.tree) : null
  const nothing = `000000 ${context.repository.emptyIds.commit}`
  const known = new Map(status.differences.filter(({ inHead }) => inHead !== null).map(one => [one.path, one]))
  const wanted = (path: RawPath, { inHead, inIndex }: EntryPair): string | null => {
    if (moved === null || moved.has(path)) return inHead
    return saved === null ? inIndex : (saved.get(path) ?? nothing)
  }
  const lines = paths.flatMap(path => {
    const entries = known.get(path) ?? { inHead: nothing, inIndex: nothing }
    const entry = wanted(path, entries)
    // The next status reads every new entry, even of a large file, so unchanged entries stay.
    return entry === entries.inIndex ? [] : [`${entry}\t${path}`]
  })
  if (lines.length === 0) return false
  await context.git.run(['update-index', '-z', '--index-info'], { index: index.file, input: joinRawPaths(lines) })
  return true
}

type EntryPair = Pick<Difference, 'inHead' | 'inIndex'>

/** Returns the paths in which two commits differ, or null if the first one is missing. */
async function changedPaths(
  { git, repository }: RepositoryContext,
  from: string | null,
  to: string | null,
): Promise<ReadonlySet<RawPath> | null> {
  if (from === to) return new Set()
  const { tree } = repository.emptyIds
  const args = ['diff-tree', '-r', '-z', '--no-renames', '--name-only', '--ignore-submodules=none']
  const result = await git.tryRun([...args, from ?? tree, to ?? tree], { index: NO_INDEX })
  return result.code === 0 ? new Set(splitRawPaths(result.stdout)) : null
}

/** Returns entries in the format of `--index-info`: `MODE HASH`. */
async function readTreeEntries({ git }: RepositoryContext, tree: string): Promise<ReadonlyMap<RawPath, string>> {
  const entries = splitRawPaths(await git.run(['ls-tree', '-r', '-z', tree])).map((line): [RawPath, string] => {
    const [mode, , hash] = line.split(/[ \t]/, 3)
    return [line.slice(line.indexOf('\t') + 1), `${mode} ${hash}`]
  })
  return new Map(entries)
}
