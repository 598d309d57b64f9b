import { type DiffStat, EMPTY_DIFF, addDiffStats } from '../../../../core/checkpoint/checkpoint.ts'
import { type RawPath, joinBelow, splitRawPaths } from '../../../../lib/text/raw-path.ts'
import type { NestedRepository } from '../commit-message.ts'
import type { RepositoryContext } from '../../repository-context.ts'
import { classifyFiles, isRemovedRepository } from './classify-files.ts'
import { type PreviousState, carryOver } from './carry-over.ts'
import { type WorkingTreeStatus, readStatus } from './working-tree-status.ts'
import { saveNested } from './nested-repositories.ts'
import type { PrivateIndex } from './private-index.ts'
import { findSecretFiles } from './secret-files.ts'
import { type WrittenTree, joinIgnoreQuery, updateAndDiff, updateIndex } from './update-index.ts'
import type { SaveFunction, SaveOptions } from './save-types.ts'
import { NO_FSYNC } from '../../fsync-objects.ts'

/** The state of a working tree after the update of the private index. */
export interface StagedChanges {
  readonly status: WorkingTreeStatus
  /** The tree and its diff, if the update produced both. */
  readonly writtenTree: WrittenTree | null
  /** True if the update changed the index. */
  readonly isChanged: boolean
  /** True if git flushed many files at once. */
  readonly isSynced: boolean
  readonly leftOut: readonly string[]
  /** The subset of `leftOut` that git could not read. */
  readonly rejected: readonly string[]
  /** Paths whose content on disk is not in the index; files in unreadable folders are missing here. */
  readonly skippedPaths: readonly RawPath[]
  /** The states of the repositories inside, and their total change. */
  readonly nested: readonly NestedRepository[]
  readonly nestedChange: DiffStat
  readonly gitlinks: readonly RawPath[]
}

/** The mode of a tree entry that is another repository. */
const GITLINK = '160000'
const NOTHING_REJECTED = { rejected: [], skippedPaths: [], isSynced: false } as const

/** Updates the private index from the working tree, and saves nested repositories. */
export async function stageChanges(
  context: RepositoryContext,
  index: PrivateIndex,
  { wish: options, before, save }: { wish: SaveOptions; before: PreviousState | null; save: SaveFunction },
): Promise<StagedChanges> {
  const { git, repository } = context
  const { top } = repository
  const abandoned = index.gitlinks.filter(path => isRemovedRepository(joinBelow(top, path)))
  if (abandoned.length > 0) await updateIndex(git, index.file, { add: [], remove: abandoned })
  const status = await readStatus(git, index.file)
  const inner = nestedCandidates(index, status, abandoned)
  const submodules = findSubmodules(index, status)
  const inside = await saveNested(context, { paths: inner, submodules }, nested => save(nested, options))
  const repositories = new Set(inside.flatMap(({ path, head }) => (head === null ? [] : [path])))
  const { maxFileSize } = options
  const { secrets: values } = context
  const withheld =
    values === undefined
      ? new Map()
      : await findSecretFiles(context, status.differences, { values, largest: maxFileSize })
  const classified = classifyFiles(status.differences, { top, maxFileSize, repositories, secretFiles: withheld })
  const isFilled = await carryOver(context, index, { paths: classified.carriedOver, seen: status, before })
  const newcomers = findNewcomers(status)
  const from = previousTree(context, before, status)
  // Hardly ever does somebody ignore a saved file: then the script changes nothing.
  const plain = index.isSparse ? null : await updateAndDiff(git, index.file, { ...classified, newcomers }, from)
  const ignored = new Set(plain === null ? await findNowIgnored(context, index, newcomers) : [])
  const add = classified.add.filter(path => !ignored.has(path))
  const remove = [...classified.remove, ...ignored]
  const update = { add, remove, newcomers: [] }
  const isOther = index.isSparse || ignored.size > 0
  const writtenTree = plain ?? (isOther ? await updateAndDiff(git, index.file, update, from) : null)
  const taken = writtenTree === null ? await updateIndex(git, index.file, update) : NOTHING_REJECTED
  const gone = new Set([...abandoned, ...remove])
  const linked = [...index.gitlinks, ...[...add, ...classified.carriedOver].filter(path => inner.includes(path))]
  return {
    status,
    writtenTree,
    isChanged: isFilled || abandoned.length + add.length + remove.length > 0,
    isSynced: taken.isSynced,
    rejected: taken.rejected,
    skippedPaths: [...classified.skippedPaths, ...taken.skippedPaths],
    leftOut: [...classified.leftOut, ...taken.rejected, ...status.warnings, ...inside.flatMap(work => work.leftOut)],
    nested: inside.flatMap(({ states }) => states),
    nestedChange: inside.map(({ change }) => change).reduce(addDiffStats, EMPTY_DIFF),
    gitlinks: [...new Set(linked)].filter(path => !gone.has(path)),
  }
}

/** Returns the tree of the last checkpoint or, for the first one, of HEAD. */
export function previousTree(
  { repository }: RepositoryContext,
  before: PreviousState | null,
  { head }: WorkingTreeStatus,
): string {
  return before?.tree ?? (head === null ? repository.emptyIds.tree : `${head}^{tree}`)
}

/** Returns the paths that may hold other repositories. */
function nestedCandidates(index: PrivateIndex, status: WorkingTreeStatus, abandoned: readonly RawPath[]): RawPath[] {
  const found = status.differences.filter(({ isRepository }) => isRepository).map(({ path }) => path)
  return [...new Set([...index.gitlinks, ...found])].filter(path => !abandoned.includes(path)).sort()
}

/** Our index has a gitlink for each repository; a repository that HEAD has as well is a submodule. */
function findSubmodules(index: PrivateIndex, status: WorkingTreeStatus): RawPath[] {
  const isNew = new Set(
    status.differences.flatMap(({ path, inHead }) => (inHead?.startsWith(`${GITLINK} `) === false ? [path] : [])),
  )
  return index.gitlinks.filter(path => !isNew.has(path))
}

/** Returns the tree of the private index; if the index did not change, the tree of the last chain. */
export async function writeIndexTree(
  { git }: RepositoryContext,
  index: PrivateIndex,
  staged: StagedChanges,
): Promise<string> {
  if (staged.writtenTree !== null) return staged.writtenTree.tree
  if (!staged.isChanged && index.record !== null) return index.record.tree
  return git.runForLine([...(staged.isSynced ? [] : NO_FSYNC), 'write-tree'], { index: index.file })
}

/** Returns files that are in the private index and not in HEAD. */
function findNewcomers({ differences }: WorkingTreeStatus): RawPath[] {
  return differences.flatMap(({ staged, working, path }) => (staged === 'A' && working !== 'D' ? [path] : []))
}

/**
 * Returns the newcomers that git ignores now: somebody ignored them or removed them from the repository after a
 * checkpoint. Files that the user force-added do not count as ignored; only if some file is ignored, git reads the
 * user's index for them. A sparse checkout may have ignore rules only in that index.
 */
async function findNowIgnored(
  context: RepositoryContext,
  index: PrivateIndex,
  newcomers: readonly RawPath[],
): Promise<readonly RawPath[]> {
  const matching = index.isSparse ? newcomers : ((await checkIgnore(context, newcomers, ['--no-index'])) ?? newcomers)
  // If the user's index is broken, force-added files count as ignored.
  return (await checkIgnore(context, matching)) ?? (await checkIgnore(context, matching, ['--no-index'])) ?? []
}

/** Returns those of these paths that git ignores; null if git cannot answer. */
export async function checkIgnore(
  { git }: RepositoryContext,
  paths: readonly RawPath[],
  options: readonly string[] = [],
): Promise<RawPath[] | null> {
  if (paths.length === 0) return []
  const call = { input: joinIgnoreQuery(paths), env: { GIT_LITERAL_PATHSPECS: '0' } }
  const { code, stdout } = await git.tryRun(['check-ignore', ...options, '-z', '--stdin'], call)
  return code === 0 || code === 1 ? splitRawPaths(stdout).map(path => path.slice(2)) : null
}
