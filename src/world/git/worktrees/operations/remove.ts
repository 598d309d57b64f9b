import fs from 'node:fs'
import path from 'node:path'
import { joinBelow, displayPath } from '../../../../lib/text/raw-path.ts'
import type { Worktree, RemoveResult } from '../../../../ports/worktrees.ts'
import { removeTree } from '../../../../os/files/remove-tree.ts'
import { GitError } from '../../git-error.ts'
import { lstat } from '../../../../os/files/lstat-if-exists.ts'
import type { RepositoryContext } from '../../repository-context.ts'
import { UPDATE_REF } from '../../update-ref.ts'
import { operationInProgress } from '../../repository.ts'
import { removedPath, deleteRemoved } from './open.ts'
import { removeMergedBackup } from '../backup-refs.ts'
import { stageWorkingTree } from '../stage-working-tree.ts'
import { ownershipEntry, failPermanently } from '../journal.ts'
import { removeUnfinished } from './open.ts'
import { worktreeFolder, findBranchHolder, type RegisteredWorktree, findRegistered } from './registry.ts'
import { openWorktreeContext, snapshotRef } from '../context.ts'
import { isAncestor, resolveObjects } from '../revisions/resolve-commits.ts'

const UNCOMMITTED = 'has files that are not committed'

/** Removes a worktree and its branch, unless that would lose something. */
export async function removeWorktree(
  context: RepositoryContext,
  worktree: Worktree,
  into: string,
): Promise<RemoveResult> {
  const folder = worktreeFolder(worktree, `clearing ${worktree.branch}`)
  deleteRemoved(folder)
  await removeUnfinished(context, worktree)
  const ref = `refs/heads/${worktree.branch}`
  const names = [`refs/heads/${into}^{commit}`, `${into}^{commit}`, ref]
  const [branch = null, other = null, tip = null] = await resolveObjects(context.git, names)
  const target = branch ?? other ?? failPermanently(`clearing ${worktree.branch}`, `there is no commit ${into}`)
  const known = findRegistered(context.repository, folder)
  const reason =
    (tip === null ? null : await reasonToKeepBranch(context, { ...worktree, path: folder }, target)) ??
    (await reasonToKeepFolder(context, known, folder, { target, tip }))
  if (reason !== null) return { kind: 'kept', reason, ...(reason.endsWith(UNCOMMITTED) && { isDirty: true }) }
  if (known !== null) await deleteWorktree(context, known)
  await deleteRefs(context, worktree.branch, [ref, tip ?? '', snapshotRef(folder)])
  await removeMergedBackup(context, worktree.branch, target)
  return { kind: 'gone' }
}

async function reasonToKeepBranch(
  { git }: RepositoryContext,
  worktree: Worktree,
  target: string,
): Promise<string | null> {
  const { branch } = worktree
  const ref = `refs/heads/${branch}`
  if (!(await isAncestor(git, ref, target))) {
    const count = await git.runForLine(['rev-list', '--count', ref, `^${target}`])
    return `${branch} has ${count === '1' ? 'a commit that is' : `${count} commits that are`} nowhere else`
  }
  const holder = await findBranchHolder(git, branch)
  if (holder !== null && holder !== worktree.path) return `${branch} is checked out at ${holder}`
  // Perhaps only this branch leads to the target commit.
  const refs = (
    await git.runForLine(['for-each-ref', '--format=%(refname)', `--contains=${ref}`, 'refs/heads', 'refs/remotes'])
  )
    .split('\n')
    .filter(name => name !== '' && name !== ref)
  return refs.length > 0 ? null : `no other branch has the commits of ${branch}`
}

async function reasonToKeepFolder(
  outer: RepositoryContext,
  known: RegisteredWorktree | null,
  folder: string,
  { target, tip }: { target: string; tip: string | null },
): Promise<string | null> {
  if (lstat(folder) === undefined) return null
  if (known === null || lstat(path.join(folder, '.git')) === undefined) return `${folder} is not a worktree`
  if (known.lock !== null) return `${folder} is locked: ${known.lock.trim() || 'no reason is given'}`
  if (ownershipEntry(known.gitDir).read() === null) return `${folder} is not a worktree of ours`
  const context = await openWorktreeContext(outer.git.withCwd(folder), outer.cache, outer.maxFileSize)
  const doing = operationInProgress(context.repository.gitDir)
  if (doing !== null) return `${doing} is under way in ${folder}`
  const [head = null, whole = null] = await resolveObjects(context.git, ['HEAD^{commit}', 'HEAD^{tree}'])
  // The target already contains the branch, as the caller has checked.
  if (head === null || whole === null || (head !== tip && !(await isAncestor(context.git, head, target))))
    return `HEAD of ${folder} has commits that are nowhere else`
  return reasonToKeepFiles(context, head, whole)
}

/**
 * Returns a reason if files are neither committed nor ignored, only staged, or another repository with its own history.
 */
async function reasonToKeepFiles(context: RepositoryContext, head: string, whole: string): Promise<string | null> {
  const { git, repository } = context
  const { top } = repository
  const { tree, leftOut, gitlinks, status } = await stageWorkingTree(context)
  const inside = [...gitlinks, ...status.differences.filter(one => one.isRepository).map(one => one.path)]
  const nested = inside.find(one => lstat(Buffer.concat([joinBelow(top, one), Buffer.from('/.git')])) !== undefined)
  if (nested !== undefined) return `${displayPath(nested)} in ${top} is a repository of its own`
  const [large] = leftOut
  if (large !== undefined) return `in ${top} ${large}`
  const staged = await git.tryRun(['diff-index', '--cached', '--quiet', head, '--'])
  if (staged.code !== 0) return `${top} has staged changes that are not committed`
  return tree === whole ? null : `${top} ${UNCOMMITTED}`
}

/** Renames the folder first: from then on, no process takes its remains for work. */
async function deleteWorktree({ git }: RepositoryContext, { path: folder, gitDir }: RegisteredWorktree): Promise<void> {
  if (lstat(folder) !== undefined) fs.renameSync(folder, removedPath(folder))
  await git.run(['worktree', 'remove', '--force', '--', folder])
  removeTree(gitDir)
  deleteRemoved(folder)
}

/** `refs`: the branch, its commit (empty if it is gone), and the snapshot ref of its worktree. */
async function deleteRefs(
  { git, repository }: RepositoryContext,
  branch: string,
  refs: readonly [ref: string, tip: string, seen: string],
): Promise<void> {
  const result = await git.runScript(DELETE_REFS, refs)
  if (result.code !== 0) throw new GitError('update-ref', result)
  const hasSettings = result.stdout.toString().includes(`branch.${branch}.`)
  // If another process locks the settings, we skip this cleanup, which does no harm.
  if (hasSettings)
    await git.tryRun([
      'config',
      '--file',
      path.join(repository.commonDir, 'config'),
      '--remove-section',
      `branch.${branch}`,
    ])
}

/** Prints the settings of branches. */
const DELETE_REFS = `
[ -z "$2" ] || git ${UPDATE_REF.join(' ')} -d "$1" "$2" || exit
git ${UPDATE_REF.join(' ')} -d "$3" || exit
git config --local --get-regexp '^branch[.]'
:
`
