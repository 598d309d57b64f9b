import fs from 'node:fs'
import path from 'node:path'
import type { Worktree } from '../../../../ports/worktrees.ts'
import { readRegularFile, replaceIn } from '../../../../os/files/file-io.ts'
import { createFolderWithoutLinks } from '../../../../os/files/folder-handle.ts'
import { lstat } from '../../../../os/files/lstat-if-exists.ts'
import type { RepositoryContext } from '../../repository-context.ts'
import { openingEntry, ownershipEntry } from '../journal.ts'
import { pathHash } from '../context.ts'
import { resolveCommit, resolveObjects } from '../revisions/resolve-commits.ts'
import { openWorktree } from './open.ts'
import { canonicalPath, findRegistered } from './registry.ts'

/**
 * Recreates a worktree and its branch if somebody removed them. The branch starts at its last commit if the reflog has
 * it, otherwise at `commit`. Returns the missing part.
 */
export async function repairWorktree(
  context: RepositoryContext,
  worktree: Worktree,
  commit: string,
): Promise<'folder' | 'branch' | null> {
  const { git, repository } = context
  const folder = canonicalPath(worktree.path)
  const ref = `refs/heads/${worktree.branch}`
  const isBranchGone = (await resolveCommit(git, ref)) === null
  if (isBranchGone) {
    const last = lastHead(findRegistered(repository, folder)?.gitDir)
    const [there = null] = last === null ? [] : await resolveObjects(git, [`${last}^{commit}`])
    await git.run(['update-ref', '-m', 'oneshot: the branch was gone', ref, there ?? commit])
  }
  const isFolderGone = !isLinked(context, folder, worktree.branch)
  if (isFolderGone && isEmpty(folder)) await openWorktree(context, worktree, commit)
  else if (isFolderGone) await relinkFolder(context, { ...worktree, path: folder })
  return isFolderGone ? 'folder' : isBranchGone ? 'branch' : null
}

/**
 * Corrects the links between a moved repository and its moved worktrees. git before 2.31 cannot do that:
 * `repairWorktree` then makes new entries.
 */
export async function relinkMoved({ git }: RepositoryContext, folders: readonly string[]): Promise<void> {
  const present = folders.filter(folder => lstat(path.join(folder, '.git'))?.isFile() === true)
  if (present.length > 0) await git.tryRun(['worktree', 'repair', '--', ...present])
}

/** Returns true if the files show that both exist. */
export function isIntact(context: RepositoryContext, worktree: Worktree): boolean {
  const ref = path.join(context.repository.commonDir, 'refs', 'heads', worktree.branch)
  return lstat(ref) !== undefined && isLinked(context, canonicalPath(worktree.path), worktree.branch)
}

/**
 * Returns true if the folder and git's entry point to each other, and the entry is complete. Leaves a repository or
 * worktree that an agent made itself alone; later operations refuse it.
 */
function isLinked(context: RepositoryContext, folder: string, branch: string): boolean {
  const stat = lstat(path.join(folder, '.git'))
  if (stat === undefined || !stat.isFile()) return stat !== undefined
  const gitDir = findRegistered(context.repository, folder)?.gitDir
  if (gitDir === undefined || gitDir !== readGitLink(folder)) return false
  // A killed `openWorktree` has left the entry as it is, and finishes it at its next call.
  return openingEntry(context, folder).read() !== null || isComplete(gitDir, branch)
}

/** A removal of all entries that ran beside git or a repair may have left a part of this entry. */
function isComplete(gitDir: string, branch: string): boolean {
  if (['HEAD', 'commondir', 'index'].some(name => lstat(path.join(gitDir, name)) === undefined)) return false
  if (ownershipEntry(gitDir).read() !== null) return true
  const head = readRegularFile(path.join(gitDir, 'HEAD'), MAX_LINK_SIZE).content.toString()
  return head !== `ref: refs/heads/${branch}\n`
}

function readGitLink(folder: string): string | null {
  const text = readRegularFile(path.join(folder, '.git'), MAX_LINK_SIZE).content.toString()
  const target = /^gitdir: (.+)\n?$/.exec(text)?.[1]
  return target === undefined ? null : canonicalPath(path.resolve(folder, target))
}

const MAX_LINK_SIZE = 16_384

function isEmpty(folder: string): boolean {
  return lstat(folder) === undefined || fs.readdirSync(folder).length === 0
}

/** Recreates git's entry of a worktree, or the link to it, and leaves the files there unchanged. */
async function relinkFolder({ git, repository }: RepositoryContext, { path: folder, branch }: Worktree): Promise<void> {
  const known = findRegistered(repository, folder)
  const gitDir = known?.gitDir ?? path.join(repository.commonDir, 'worktrees', `oneshot-${pathHash(folder)}`)
  const files = { commondir: '../..\n', HEAD: `ref: refs/heads/${branch}\n`, gitdir: `${folder}/.git\n` }
  for (const [name, text] of Object.entries(files))
    if (known === null || lstat(path.join(gitDir, name)) === undefined) writeFileIn(gitDir, name, text)
  ownershipEntry(gitDir).write({ branch })
  writeFileIn(folder, '.git', `gitdir: ${gitDir}\n`)
  if (lstat(path.join(gitDir, 'index')) === undefined) await git.withCwd(folder).run(['reset', '--quiet'])
}

function writeFileIn(folder: string, name: string, text: string): void {
  const held = createFolderWithoutLinks(folder)
  try {
    replaceIn(held, name, text)
  } finally {
    held.close()
  }
}

/** Returns the last HEAD of a worktree. */
function lastHead(gitDir: string | undefined): string | null {
  if (gitDir === undefined) return null
  try {
    const lines = fs
      .readFileSync(path.join(gitDir, 'logs', 'HEAD'), 'latin1')
      .trimEnd()
      .split('\n')
    return /^\S+ ([0-9a-f]{40,64}) /.exec(lines.at(-1) ?? '')?.[1] ?? null
  } catch {
    return null // There is no reflog.
  }
}
