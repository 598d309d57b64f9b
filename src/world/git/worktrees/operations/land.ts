import { type RawPath, displayPath, rawPathBytes, splitRawPaths } from '../../../../lib/text/raw-path.ts'
import { type RepositoryContext, readHead } from '../../repository-context.ts'
import { ONESHOT_IDENTITY, commitIdentity, operationInProgress } from '../../repository.ts'
import type { LandedList } from '../../../../ports/worktrees.ts'
import { findBlockingFiles } from '../../checkpoint/restore/blocking-files.ts'
import { undoLanding } from './undo-unfinished-landing.ts'
import { stageWorkingTree } from '../stage-working-tree.ts'
import { failPermanently, landingEntry } from '../journal.ts'
import { sharedStateFolder } from '../context.ts'
import { isAncestor, resolveCommit } from '../revisions/resolve-commits.ts'
import { diffTree, diffTreePairs } from '../revisions/diff-trees.ts'
import path from 'node:path'
import { createFolderWithoutLinks } from '../../../../os/files/folder-handle.ts'
import { removeTree } from '../../../../os/files/remove-tree.ts'
import { GitError } from '../../git-error.ts'
import { type Git, NO_INDEX } from '../../git.ts'
import { MERGE_OPTIONS, listUnmerged } from './merge.ts'
import { findRegistered } from './registry.ts'

export interface LandResult {
  readonly commit: string
  readonly isForward: boolean
}

export interface LandOptions {
  /** Land all work as one commit, without the branch in its history. */
  readonly isSquash?: boolean
  /** Only check if the landing is possible. */
  readonly isDry?: boolean
  /** The task list: if it is the only conflict, the landing takes the user's version with the branch's ticks. */
  readonly list?: LandedList
}

/**
 * Lands a branch in the user's checkout, which only ever fast-forwards: a necessary merge happens in a scratch
 * worktree. No user's hook runs, here as elsewhere: the loop would run it at a time that nobody chose.
 */
export async function landBranch(
  context: RepositoryContext,
  branch: string,
  message: string,
  how: LandOptions = {},
): Promise<LandResult> {
  const { git, repository } = context
  const doing = `landing ${branch} in ${repository.top}`
  await undoLanding(context, doing)
  const theirs = (await resolveCommit(git, branch)) ?? failPermanently(doing, 'there is no such branch')
  const head = (await readHead(context)) ?? failPermanently(doing, 'there is no commit yet')
  if (await isAncestor(git, theirs, head)) return { commit: head, isForward: theirs === head }
  const isAhead = await isAncestor(git, head, theirs)
  const squashed = isAhead ? null : await findSquashed(context, { head, theirs, list: how.list?.file ?? null })
  if (squashed === theirs) return { commit: head, isForward: false }
  const what = operationInProgress(repository.gitDir)
  if (what !== null) failPermanently(doing, `${what} is under way: end it first`)
  const ref = (await git.tryRun(['symbolic-ref', '--quiet', 'HEAD'])).stdout.toString().trim() || null
  const merged = isAhead
    ? theirs
    : await mergeInScratch(context, { head, theirs, squashed, message, doing, list: how.list })
  const target = how.isSquash === true ? await commitSquash(context, { head, theirs, merged, message }) : merged
  const isForward = target === theirs
  await assertNothingOverwritten(context, head, target, doing)
  if (how.isDry === true) return { commit: target, isForward }
  landingEntry(context).write({ head, target, ref })
  await git.run(['merge', '--quiet', '--no-stat', '--ff-only', '--no-verify-signatures', target])
  landingEntry(context).remove()
  return { commit: target, isForward }
}

async function commitSquash(
  { git }: RepositoryContext,
  { head, theirs, merged, message }: { head: string; theirs: string; merged: string; message: string },
): Promise<string> {
  const args = ['commit-tree', '-p', head, '-F', '-', `${merged}^{tree}`]
  return git.runForLine(args, { input: squashMessage(message, theirs), env: await commitIdentity(git) })
}

/** git would refuse changed files as well, but would overwrite ignored files. */
async function assertNothingOverwritten(
  context: RepositoryContext,
  head: string,
  target: string,
  doing: string,
): Promise<void> {
  const moving = new Set((await diffTree(context, head, target)).map(({ path }) => path))
  const { tree } = await stageWorkingTree(context)
  const changed = (await diffTree(context, head, tree)).map(({ path }) => path)
  const staged = splitRawPaths(await context.git.run(['diff-index', '--cached', '--name-only', '-z', head, '--']))
  const dirty = [...new Set([...changed, ...staged])].filter(path => moving.has(path))
  if (dirty.length > 0) failPermanently(doing, `${listPaths(dirty)} changed here as well: commit or stash that first`)
  const inTheWay = await findBlockingFiles(context, { from: head, to: target }, () => false)
  if (inTheWay.length > 0) failPermanently(doing, `${listPaths(inTheWay)} in the way, and not in git: move that first`)
}

function listPaths(paths: readonly RawPath[]): string {
  const [first = '', ...more] = paths
  return more.length === 0 ? `${displayPath(first)} is` : `${displayPath(first)} and ${more.length} more are`
}

/** Merges two commits in a scratch worktree; returns the merge commit, which no ref points to yet. */
async function mergeInScratch(
  context: RepositoryContext,
  given: {
    head: string
    theirs: string
    squashed: string | null
    message: string
    doing: string
    list: LandedList | undefined
  },
): Promise<string> {
  const { head, theirs, squashed, message, doing, list } = given
  const folder = path.join(sharedStateFolder(context.repository), 'merging')
  await removeScratch(context, folder)
  try {
    const env = await commitIdentity(context.git)
    const commit = (tree: string, parents: readonly string[]): Promise<string> =>
      context.git.runForLine(['commit-tree', ...parents.flatMap(parent => ['-p', parent]), '-F', '-', tree], {
        input: message,
        env,
      })
    // A squashed commit counts as merged: git then uses it as the merge base instead of the older one.
    const ours = squashed === null ? head : await commit(`${head}^{tree}`, [head, squashed])
    await context.git.run(['worktree', 'add', '--quiet', '--detach', '--', folder, ours])
    const git = context.git.withCwd(folder)
    const args = ['merge', ...MERGE_OPTIONS, '--cleanup=verbatim', '-m', message, theirs]
    const result = await git.tryRun(args, { env })
    if (result.code === 0) {
      const merged = await git.runForLine(['rev-parse', 'HEAD'])
      return squashed === null ? merged : await commit(`${merged}^{tree}`, [head, theirs])
    }
    const files = await listUnmerged(git)
    if (list !== undefined && files.length === 1 && files[0] === displayPath(list.file))
      return await commit(await treeWithList(git, folder, list), [head, theirs])
    if (files.length === 0) throw new GitError('merge', result)
    return failPermanently(doing, `it conflicts with your files: ${files.join(', ')}`)
  } finally {
    if (!context.git.signal.aborted) await removeScratch(context, folder)
  }
}

/** Returns the tree of a merge in which only the list conflicts. */
async function treeWithList(git: Git, folder: string, { file, tick }: LandedList): Promise<string> {
  const name = rawPathBytes(file).toString()
  await git.run(['checkout', '--quiet', '--ours', '--', name])
  await tick(folder)
  await git.run(['add', '--force', '--', name])
  return git.runForLine(['write-tree'])
}

async function removeScratch({ git, repository }: RepositoryContext, folder: string): Promise<void> {
  createFolderWithoutLinks(path.dirname(folder)).close()
  removeTree(folder)
  if (findRegistered(repository, folder) === null) return
  await git.run(['worktree', 'remove', '--force', '--force', '--', folder])
}

/** Commits of the user's branch to examine; an older squash has long become part of the history. */
const MAX_COMMITS = '500'

/** Merges to try: a message can name any number of commits. */
const MAX_CANDIDATES = 50

/** A user's commit that may be a squash, and a commit of the branch that it may contain. */
interface Candidate {
  readonly ours: string
  readonly theirs: string
  /** The number of newer commits on the branch. */
  readonly age: number
}

/**
 * Returns the newest commit of a branch whose work the user's branch contains as a squash, or null. git itself does not
 * detect that, and would merge the same work a second time.
 *
 * A user's commit is a candidate if it has the same files as a commit of the branch, or names it as `git merge
 * --squash` does. Anybody can write such a message, so the files decide: a candidate counts if merging the branch's
 * commit into it changes nothing.
 */
async function findSquashed(
  place: RepositoryContext,
  { head, theirs, list }: { head: string; theirs: string; list: RawPath | null },
): Promise<string | null> {
  let known: Candidate | null = null
  for (const candidate of (await findCandidates(place, head, theirs)).slice(0, MAX_CANDIDATES)) {
    const isNewer: boolean = known === null || candidate.age < known.age
    if (isNewer && (await containsWork(place, { ...candidate, list }, known?.theirs ?? null))) known = candidate
  }
  return known?.theirs ?? null
}

/**
 * Returns candidates in the order of the user's commits, oldest first; for each of them, the newest commit of the
 * branch comes first.
 */
async function findCandidates({ git }: RepositoryContext, head: string, theirs: string): Promise<Candidate[]> {
  const log = (await git.runForLine(['log', '--topo-order', '--format=%H %T', `${head}..${theirs}`, '--'])).split('\n')
  const branch = log.map(line => line.split(' ') as [id: string, tree: string])
  const ages = new Map(branch.map(([id], at) => [id, at]))
  const byTree = new Map(branch.toReversed().map(([id, tree]) => [tree, id]))
  const range = [`--max-count=${MAX_COMMITS}`, '--format=%H %T%n%B', `${theirs}..${head}`, '--']
  const ours = (await git.run(['log', '-z', '--topo-order', ...range])).toString().split('\0').toReversed()
  return ours.flatMap(text => {
    const [first = '', ...message] = text.split('\n')
    const [id = '', tree = ''] = first.split(' ')
    const named = message.flatMap(line => /^commit ([0-9a-f]{40,64})$/.exec(line)?.[1] ?? [])
    const found = [...new Set([byTree.get(tree) ?? '', ...named])].flatMap(one => {
      const age = ages.get(one)
      return age === undefined ? [] : [{ ours: id, theirs: one, age }]
    })
    return found.toSorted((one, other) => one.age - other.age)
  })
}

type Pair = Pick<Candidate, 'ours' | 'theirs'> & { readonly list: RawPath | null }

/**
 * Returns true if a merge of the branch's commit would change nothing. A conflict only in the task list does not count,
 * because a landing resolves it. `known`: a commit of the branch that an earlier candidate contained.
 */
async function containsWork(
  place: RepositoryContext,
  { ours, theirs, list }: Pair,
  known: string | null,
): Promise<boolean> {
  const { git } = place
  const [tree = '', other = ''] = (await git.runForLine(['rev-parse', `${ours}^{tree}`, `${theirs}^{tree}`])).split(
    '\n',
  )
  if (tree === other) return true
  const parents = ['-p', ours, ...(known === null ? [] : ['-p', known])]
  const joined =
    known === null
      ? ours
      : await git.runForLine(['commit-tree', ...parents, tree], { input: '', env: ONESHOT_IDENTITY })
  const words = ['merge-tree', '--write-tree', '-z', '--no-messages', '--name-only', joined, theirs]
  const answer = await git.tryRun(words, { index: NO_INDEX })
  const [merged = '', ...conflicts] = splitRawPaths(answer.stdout)
  if (answer.code === 0) return merged === tree
  if (answer.code !== 1) return hasAllFiles(place, { ours, theirs, list }, known)
  if (!conflicts.every(file => file === list)) return false
  const [changes] = await diffTreePairs(place, [[tree, merged]])
  return changes?.every(({ path }) => path === list) === true
}

/**
 * For git before 2.38, which cannot merge without a working tree: returns true if each file that the branch changed is
 * the same.
 */
async function hasAllFiles(place: RepositoryContext, { ours, theirs }: Pair, known: string | null): Promise<boolean> {
  const base = known ?? (await place.git.runForLine(['merge-base', ours, theirs]))
  const [made, different] = await diffTreePairs(place, [
    [base, theirs],
    [ours, theirs],
  ])
  const paths = new Set((different ?? []).map(({ path }) => path))
  return made !== null && made !== undefined && different !== null && !made.some(({ path }) => paths.has(path))
}

/** Uses the format of `git merge --squash`, so that the next landing recognises the commit. */
function squashMessage(message: string, theirs: string): string {
  return `${message}\n\nSquashed commit of the following:\n\ncommit ${theirs}\n`
}
