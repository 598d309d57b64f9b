import fs from 'node:fs'
import { joinBelow, rawPathBytes, joinRawPaths, type RawPath, displayPath } from '../../../../lib/text/raw-path.ts'
import type { Worktree } from '../../../../ports/worktrees.ts'
import { unlinkBelow } from '../../../../os/files/remove-tree.ts'
import type { Snapshot } from '../../../../core/loop/work-evidence.ts'
import { readHead } from '../../repository-context.ts'
import { commitIdentity } from '../../repository.ts'
import type { RepositoryContext } from '../../repository-context.ts'
import { operationInProgress } from '../../repository.ts'
import { excludePaths, isAgentFile } from '../stage-working-tree.ts'
import { stageWorkingTree } from '../stage-working-tree.ts'
import { commitToHead } from './commit-paths.ts'
import { undoUnfinishedMerge } from './merge.ts'
import { failPermanently } from '../journal.ts'
import { resolveCommit, isAncestor, resolveObjects } from '../revisions/resolve-commits.ts'
import { diffTree, type TreeChange } from '../revisions/diff-trees.ts'
import { revertEntries } from '../revisions/edit-tree.ts'

export interface CommitAllInput {
  readonly worktree: Worktree
  readonly message: string
  readonly excludedPaths: readonly string[]
  readonly base: string
  /** The verified snapshot; null to commit the present files. */
  readonly verified: Snapshot | null
}

/**
 * Commits the verified snapshot of a worktree, or its present files, with the excluded paths as in `base`. Updates the
 * files last: until then it can run again.
 */
export async function commitAll(
  context: RepositoryContext,
  { worktree, message, excludedPaths, base, verified }: CommitAllInput,
): Promise<string> {
  const doing = `committing the work on ${worktree.branch}`
  await undoUnfinishedMerge(context)
  // A process that the agent or the check left behind may have committed since.
  if (verified !== null && (await readHead(context)) !== verified.head)
    return commitDetached(context, { message, excludedPaths, base, verified, doing })
  const merged = await readMergeHead(context, doing)
  await reattachBranch(context, worktree, doing)
  const { head: at, tree: found } = verified ?? (await snapshotNow(context))
  const head = at ?? failPermanently(doing, 'its branch has no commit')
  if (merged !== null) await assertResolved(context, [head, merged], found, doing)
  const excluded = await excludedChanges(context, { head, tree: found, excludedPaths, base, doing })
  const strays = merged === null ? await newRepositories(context, head, found) : []
  const tree = await revertEntries(context, found, [...excluded, ...strays])
  const commit = await commitUnlessSame(context, { tree, head, merged, message })
  await context.git.run(['reset', '--quiet', '--mixed', commit])
  await restoreFiles(context, excluded)
  return commit
}

async function snapshotNow(context: RepositoryContext): Promise<Snapshot> {
  const { status, tree } = await stageWorkingTree(context)
  return { head: status.head, tree }
}

interface DetachedCommitInput {
  readonly message: string
  readonly excludedPaths: readonly string[]
  readonly base: string
  readonly verified: Snapshot
  readonly doing: string
}

/** Commits the verified snapshot when HEAD has moved on, and changes nothing else. */
async function commitDetached(
  context: RepositoryContext,
  { message, excludedPaths, base, verified, doing }: DetachedCommitInput,
): Promise<string> {
  const { head, tree: found } = verified
  if (head === null) return failPermanently(doing, 'its branch has no commit')
  const excluded = await excludedChanges(context, { head, tree: found, excludedPaths, base, doing })
  const tree = await revertEntries(context, found, [...excluded, ...(await newRepositories(context, head, found))])
  const [whole, now = null, before, parent] = await resolveObjects(context.git, [
    `${head}^{tree}`,
    'HEAD^{commit}',
    'HEAD^{tree}',
    'HEAD^1',
  ])
  if (tree === whole) return head
  // A kill ended the last run after it created the commit.
  if (now !== null && tree === before && parent === head) {
    await context.git.run(['reset', '--quiet', '--mixed', now])
    await restoreFiles(context, excluded)
    return now
  }
  return context.git.runForLine(['commit-tree', tree, '-p', head], {
    input: message,
    env: await commitIdentity(context.git),
  })
}

/** Returns the other side of a merge, which is part of the work; we must not end any other operation in progress. */
async function readMergeHead({ git, repository }: RepositoryContext, doing: string): Promise<string | null> {
  const what = operationInProgress(repository.gitDir)
  if (what === null) return null
  if (what !== 'a merge') failPermanently(doing, `${what} is under way in ${repository.top}`)
  return git.runForLine(['rev-parse', '--verify', 'MERGE_HEAD'])
}

/** The agent may have switched to another branch or detached HEAD: commits there count as work as well. */
async function reattachBranch(context: RepositoryContext, { branch }: Worktree, doing: string): Promise<void> {
  const { git } = context
  const ref = `refs/heads/${branch}`
  if ((await git.tryRun(['symbolic-ref', '--quiet', 'HEAD'])).stdout.toString().trim() === ref) return
  const [head, tip] = [await readHead(context), await resolveCommit(git, ref)]
  if (head === null) return failPermanently(doing, 'its branch has no commit')
  if (tip !== null && !(await isAncestor(git, tip, head))) {
    failPermanently(doing, `the checked-out commit does not contain the commits of ${branch}`)
  }
  await git.run([
    'update-ref',
    '-m',
    'oneshot: work of another branch',
    ref,
    head,
    tip ?? context.repository.emptyIds.commit,
  ])
  await git.run(['symbolic-ref', '-m', 'oneshot: back to the branch', 'HEAD', ref])
}

/**
 * Checks files that differ from both sides for conflict markers, even if somebody has marked them as resolved in git.
 */
async function assertResolved(
  context: RepositoryContext,
  sides: readonly string[],
  tree: string,
  doing: string,
): Promise<void> {
  const [ours = [], theirs = []] = await Promise.all(sides.map(side => diffTree(context, side, tree)))
  const paths = new Set(theirs.map(entry => entry.path))
  const open = ours.find(entry => paths.has(entry.path) && hasConflictMarkers(context.repository.top, entry.path))
  if (open !== undefined) failPermanently(doing, `the conflict in ${displayPath(open.path)} is not resolved`)
}

function hasConflictMarkers(top: string, file: RawPath): boolean {
  const place = joinBelow(top, file)
  if (!fs.lstatSync(place, { throwIfNoEntry: false })?.isFile()) return false
  const text = fs.readFileSync(place, 'latin1')
  return /^<{7} /m.test(text) && /^>{7} /m.test(text)
}

/** Returns changes to the excluded paths since the merge base with `base`. */
async function excludedChanges(
  context: RepositoryContext,
  given: { head: string; tree: string; excludedPaths: readonly string[]; base: string; doing: string },
): Promise<TreeChange[]> {
  const { git, repository } = context
  const base =
    (await resolveCommit(git, given.base)) ?? failPermanently(given.doing, `there is no commit ${given.base}`)
  const parted = await git.tryRun(['merge-base', base, given.head])
  const from = parted.code === 0 ? (parted.stdout.toString().split('\n')[0] as string) : base
  const isExcluded = excludePaths(repository.top, repository.top, given.excludedPaths)
  return (await diffTree(context, from, given.tree)).filter(entry => isExcluded(entry.path))
}

/** Returns new nested repositories: a commit would record only their HEAD, and look as if it contained them. */
async function newRepositories(context: RepositoryContext, head: string, tree: string): Promise<TreeChange[]> {
  return (await diffTree(context, head, tree)).filter(({ before, isRepository }) => before === null && isRepository)
}

async function commitUnlessSame(
  context: RepositoryContext,
  { tree, head, merged, message }: { tree: string; head: string; merged: string | null; message: string },
): Promise<string> {
  if (merged === null && tree === (await context.git.runForLine(['rev-parse', `${head}^{tree}`]))) return head
  return commitToHead(context, { tree, parents: [head, ...(merged === null ? [] : [merged])], message })
}

/**
 * Restores the excluded files from the commit and removes those that it lacks. Leaves the views of sessions alone,
 * because they are not work.
 */
async function restoreFiles({ git, repository }: RepositoryContext, excluded: readonly TreeChange[]): Promise<void> {
  const files = excluded.filter(entry => !isAgentFile(entry.path))
  const gone = files.filter(({ before }) => before === null)
  for (const { path: file } of gone) unlinkBelow(repository.top, rawPathBytes(file))
  const rest = files.filter(({ before }) => before !== null)
  if (rest.length === 0) return
  const input = joinRawPaths(rest.map(entry => entry.path))
  await git.run(['checkout-index', '--quiet', '--force', '-z', '--stdin'], { input })
}
