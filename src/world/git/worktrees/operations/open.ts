import fs from 'node:fs'
import path from 'node:path'
import type { Worktree } from '../../../../ports/worktrees.ts'
import { replaceIn } from '../../../../os/files/file-io.ts'
import { addToGitExclude } from '../../../../state/git-exclude.ts'
import { createFolderWithoutLinks } from '../../../../os/files/folder-handle.ts'
import { removeTree } from '../../../../os/files/remove-tree.ts'
import type { Git } from '../../git.ts'
import { lstat } from '../../../../os/files/lstat-if-exists.ts'
import type { RepositoryContext } from '../../repository-context.ts'
import { failPermanently, openingEntry, ownershipEntry } from '../journal.ts'
import { type RegisteredWorktree, findRegistered, worktreeFolder } from './registry.ts'
import { resolveCommit } from '../revisions/resolve-commits.ts'

/** Opens a worktree, or completes an interrupted opening. */
export async function openWorktree(context: RepositoryContext, worktree: Worktree, from: string): Promise<void> {
  const { git, repository } = context
  const doing = `opening a worktree for ${worktree.branch}`
  const folder = worktreeFolder(worktree, doing)
  if ((await git.tryRun(['check-ref-format', '--branch', worktree.branch])).code !== 0) {
    failPermanently(doing, 'that is no name for a branch')
  }
  hideWorktrees(repository.top, folder)
  deleteRemoved(folder)
  const known = findRegistered(repository, folder)
  if (known !== null && lstat(path.join(folder, '.git')) !== undefined) {
    if (ownershipEntry(known.gitDir).read() !== null || openingEntry(context, folder).read() === null) {
      return reuseWorktree(context, known, worktree.branch)
    }
  }
  await removeUnfinished(context, worktree)
  await assertFolderFree(context, { ...worktree, path: folder }, doing)
  await addWorktree(context, { ...worktree, path: folder }, await resolveStart(git, from, doing))
}

/**
 * Hides the worktrees from git and from package tools. If a project tracks its own `.agent` folder, only the worktrees
 * folder is hidden, by its own ignore file.
 */
function hideWorktrees(top: string, folder: string): void {
  if (lstat(path.join(top, '.agent')) === undefined) addToGitExclude(top, ['.agent/'])
  const around = path.join(top, '.agent', 'worktrees')
  if (!folder.startsWith(`${around}/`)) return
  const held = createFolderWithoutLinks(around)
  try {
    if (lstat(held.at('.gitignore')) === undefined) replaceIn(held, '.gitignore', '*\n')
  } finally {
    held.close()
  }
}

/**
 * Removes the remains of a killed call; no agent has worked there yet. Deletes the branch as well if it is new and has
 * not moved.
 */
export async function removeUnfinished(context: RepositoryContext, worktree: Worktree): Promise<void> {
  const folder = worktreeFolder(worktree, `opening a worktree for ${worktree.branch}`)
  const entry = openingEntry(context, folder)
  const begun = entry.read()
  if (begun === null) return
  removeTree(folder)
  if (findRegistered(context.repository, folder) !== null) {
    await context.git.run(['worktree', 'remove', '--force', '--force', '--', folder])
  }
  if (begun.from !== null && (await branchTip(context.git, worktree.branch)) === begun.from) {
    await context.git.run(['update-ref', '-d', `refs/heads/${worktree.branch}`, begun.from])
  }
  entry.remove()
}

async function reuseWorktree(context: RepositoryContext, known: RegisteredWorktree, branch: string): Promise<void> {
  const mark = ownershipEntry(known.gitDir)
  const held = mark.read()?.branch ?? (await currentBranch(context.git.withCwd(known.path)))
  if (held !== branch) {
    failPermanently(
      `opening a worktree for ${branch}`,
      `the worktree ${known.path} has ${held === null ? 'no branch' : `the branch ${held}`}`,
    )
  }
  mark.write({ branch })
  openingEntry(context, known.path).remove()
}

async function currentBranch(git: Git): Promise<string | null> {
  const { code, stdout } = await git.tryRun(['symbolic-ref', '--quiet', '--short', 'HEAD'])
  return code === 0 ? stdout.toString().trim() : null
}

/** Removes the registration of a worktree whose folder somebody removed, and no other one. */
async function assertFolderFree(
  { git, repository }: RepositoryContext,
  worktree: Worktree,
  doing: string,
): Promise<void> {
  const { path: folder, branch } = worktree
  const stat = lstat(folder)
  if (stat !== undefined && (!stat.isDirectory() || fs.readdirSync(folder).length > 0)) {
    failPermanently(doing, `something else lies at ${folder}`)
  }
  const known = findRegistered(repository, folder)
  if (known === null) return
  // An agent may have locked and then removed our worktree.
  const isOurs = ownershipEntry(known.gitDir).read()?.branch === branch
  if (known.lock !== null && !isOurs)
    failPermanently(doing, `${folder} is missing, and locked: ${known.lock.trim() || 'no reason is given'}`)
  if (stat !== undefined) fs.rmdirSync(folder)
  await git.run(['worktree', 'remove', '--force', '--force', '--', folder])
}

async function resolveStart(git: Git, from: string, doing: string): Promise<string> {
  return (await resolveCommit(git, from)) ?? failPermanently(doing, `there is no commit ${from}`)
}

async function addWorktree(
  context: RepositoryContext,
  { path: folder, branch }: Worktree,
  from: string,
): Promise<void> {
  const { git, repository } = context
  const entry = openingEntry(context, folder)
  const isNew = (await branchTip(git, branch)) === null
  createFolderWithoutLinks(path.dirname(folder)).close()
  entry.write({ from: isNew ? from : null })
  const which = isNew ? ['--no-track', '-b', branch, '--', folder, from] : ['--', folder, branch]
  await git.run(['worktree', 'add', '--quiet', ...which])
  const made = findRegistered(repository, folder)
  if (made === null) throw new Error('git has not noted it down')
  ownershipEntry(made.gitDir).write({ branch })
  entry.remove()
}

async function branchTip(git: Git, branch: string): Promise<string | null> {
  const { code, stdout } = await git.tryRun(['rev-parse', '--verify', '--quiet', `refs/heads/${branch}^{commit}`])
  return code === 0 ? stdout.toString().trim() : null
}

/**
 * Returns the path of a worktree during its removal. One rename moves it there, and nothing needs its content
 * afterwards.
 */
export function removedPath(folder: string): string {
  return `${folder}.gone`
}

/** Completes an interrupted removal. */
export function deleteRemoved(folder: string): void {
  removeTree(removedPath(folder))
}
