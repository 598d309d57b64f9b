import fs from 'node:fs'
import path from 'node:path'
import { type RawPath, displayPath, parentFolders, rawPathBytes, splitRawPaths } from '../../../../lib/text/raw-path.ts'
import type { MergeResult } from '../../../../ports/worktrees.ts'
import type { Git, GitResult } from '../../git.ts'
import { GitError } from '../../git-error.ts'
import { type RepositoryContext, readHead } from '../../repository-context.ts'
import { commitIdentity, operationInProgress } from '../../repository.ts'
import { type StagedWorkingTree, stageWorkingTree } from '../stage-working-tree.ts'
import { failPermanently, mergeEntry } from '../journal.ts'
import { isAncestor, resolveCommit, resolveObjects } from '../revisions/resolve-commits.ts'
import { removeEmptyBelow, unlinkBelow } from '../../../../os/files/remove-tree.ts'

/** Merges with a merge commit, or leaves everything unchanged. */
export async function mergeBranch(
  context: RepositoryContext,
  branch: string,
  message: string,
  onto?: string,
): Promise<MergeResult> {
  await undoUnfinishedMerge(context)
  const { git } = context
  const doing = `merging ${branch}`
  const [head, theirs] = await resolveSides(context, branch, doing)
  if (onto !== undefined && head !== onto) return { kind: 'moved' }
  if (await isAncestor(git, theirs, head)) return { kind: 'merged', commit: head }
  const result = await tryMerge(context, { branch, head, how: ['--cleanup=verbatim', '-m', message] })
  if (result.code === 0) {
    mergeEntry(context).remove()
    const [commit = '', first] = result.stdout.toString().split('\n')
    return onto !== undefined && first !== onto ? { kind: 'moved' } : { kind: 'merged', commit }
  }
  const files = await listUnmerged(git)
  await undoUnfinishedMerge(context)
  if (files.length === 0) throw new GitError('merge', result)
  return { kind: 'conflict', files }
}

/** Starts a merge and leaves its conflicts to an agent. */
export async function startMerge(context: RepositoryContext, branch: string): Promise<readonly string[]> {
  await undoUnfinishedMerge(context)
  const { git, repository } = context
  if (fs.existsSync(path.join(repository.gitDir, 'MERGE_HEAD'))) return listUnmerged(git)
  const [head, theirs] = await resolveSides(context, branch, `merging ${branch}`)
  if (await isAncestor(git, theirs, head)) return []
  const result = await tryMerge(context, { branch, head, how: ['--no-commit'] })
  const files = await listUnmerged(git)
  if (result.code !== 0 && files.length === 0) {
    await undoUnfinishedMerge(context)
    throw new GitError('merge', result)
  }
  mergeEntry(context).remove()
  return files
}

/** Undoes a merge that a kill interrupted: restores the files that it changed or created. */
export async function undoUnfinishedMerge(context: RepositoryContext): Promise<void> {
  const { git } = context
  const entry = mergeEntry(context)
  const begun = entry.read()
  if (begun === null) return
  if ((await readHead(context)) === begun.head) {
    await git.run(['reset', '--quiet', '--hard', begun.head])
    const skipped = new Set(begun.untaken ?? [])
    await removeUntracked(context, file => !skipped.has(file))
    await git.run(['read-tree', '--reset', '-u', begun.tree])
  }
  await git.run(['reset', '--quiet', '--mixed'])
  entry.remove()
}

async function resolveSides(
  context: RepositoryContext,
  branch: string,
  doing: string,
): Promise<[head: string, theirs: string]> {
  const what = operationInProgress(context.repository.gitDir)
  if (what !== null) failPermanently(doing, `${what} is under way in ${context.repository.top}`)
  const head = (await readHead(context)) ?? failPermanently(doing, 'there is no commit to merge it into')
  return [head, (await resolveCommit(context.git, branch)) ?? failPermanently(doing, 'there is no such branch')]
}

export const MERGE_OPTIONS = [
  '--quiet',
  '--no-edit',
  '--no-ff',
  '--no-log',
  '--no-stat',
  '--no-verify',
  '--no-gpg-sign',
] as const

async function tryMerge(
  context: RepositoryContext,
  { branch, head, how }: { branch: string; head: string; how: readonly string[] },
): Promise<GitResult> {
  const { git } = context
  const staged = await stageWorkingTree(context)
  await assertNothingLost(context, staged, { target: null, doing: `merging ${branch}` })
  mergeEntry(context).write({ head, tree: staged.tree, untaken: staged.skippedPaths })
  const [isBranch = null] = await resolveObjects(git, [`refs/heads/${branch}`])
  const name = isBranch === null ? branch : `heads/${branch}`
  return git.runScript(MERGE_SCRIPT, [...MERGE_OPTIONS, ...how, name], { env: await commitIdentity(git) })
}

/** Prints the new HEAD and the previous one. */
const MERGE_SCRIPT = `
git merge "$@" >/dev/null || exit
git rev-parse HEAD HEAD^1
`

/** Returns the unresolved files of a merge. */
export async function listUnmerged(git: Git): Promise<string[]> {
  return splitRawPaths(
    await git.run(['diff', '--name-only', '--diff-filter=U', '-z', '--ignore-submodules=dirty']),
  ).map(displayPath)
}

/** Removes untracked files that `mayGo` accepts, but no ignored files, and then the empty folders. */
export async function removeUntracked(
  { git, repository }: RepositoryContext,
  mayGo: (file: RawPath) => boolean,
): Promise<void> {
  const { top } = repository
  const found = splitRawPaths(await git.run(['ls-files', '--others', '--exclude-standard', '-z']))
  // The path of another repository ends with a slash: it has a history of its own.
  const files = found.filter(file => !file.endsWith('/') && mayGo(file))
  for (const file of files) unlinkBelow(top, rawPathBytes(file))
  const folders = new Set(files.flatMap(parentFolders))
  for (const folder of [...folders].sort().reverse()) removeEmptyBelow(top, rawPathBytes(folder))
}

/**
 * Refuses if a file that the backup left out would be overwritten: as a changed tracked file, or by a new file at its
 * path.
 */
export async function assertNothingLost(
  { git }: RepositoryContext,
  { skippedPaths, leftOut }: StagedWorkingTree,
  { target, doing }: { target: string | null; doing: string },
): Promise<void> {
  if (skippedPaths.length === 0) return
  const listed = async (args: readonly string[]): Promise<RawPath[]> => splitRawPaths(await git.run(args))
  const changed = new Set(await listed(LIST_CHANGED))
  const committed = new Set(await listed([...LIST_FILES, 'HEAD']))
  const coming = target === null ? [] : await listed([...LIST_FILES, target])
  const isCovered = (file: RawPath): boolean => !committed.has(file) && coming.some(other => overlaps(file, other))
  const lost = skippedPaths.find(file => changed.has(file) || isCovered(file))
  if (lost === undefined) return
  const why =
    leftOut.find(sentence => sentence.startsWith(`${displayPath(lost)} `)) ?? `${displayPath(lost)} cannot be kept`
  failPermanently(doing, `${why}: commit it or move it away first`)
}

const LIST_FILES = ['ls-tree', '-r', '-z', '--name-only'] as const
/** Tracked files that differ from HEAD. */
const LIST_CHANGED = [
  'diff',
  '--name-only',
  '-z',
  '--no-renames',
  '--no-ext-diff',
  '--ignore-submodules',
  'HEAD',
] as const

function overlaps(file: RawPath, other: RawPath): boolean {
  return file === other || file.startsWith(`${other}/`) || other.startsWith(`${file}/`)
}
