import fs from 'node:fs'
import path from 'node:path'
import { hasCode } from '../../../../lib/errors.ts'
import type { Worktree } from '../../../../ports/worktrees.ts'
import type { Git } from '../../git.ts'
import type { Repository } from '../../repository.ts'
import { failPermanently } from '../journal.ts'

/** A registered worktree; its folder may be missing. */
export interface RegisteredWorktree {
  /** Its own git folder. */
  readonly gitDir: string
  readonly path: string
  /** The reason of its lock; null if it is not locked. */
  readonly lock: string | null
}

/**
 * Finds the registration of this path in git's own folder: `git worktree list` reads all of them, and does not
 * distinguish unusual names.
 */
export function findRegistered({ commonDir }: Repository, folder: string): RegisteredWorktree | null {
  const all = path.join(commonDir, 'worktrees')
  for (const name of fs.existsSync(all) ? fs.readdirSync(all) : []) {
    const gitDir = path.join(all, name)
    const link = readIfPresent(path.join(gitDir, 'gitdir'))?.replace(/\n$/, '')
    if (link === undefined || path.dirname(path.resolve(gitDir, link)) !== folder) continue
    return { gitDir, path: folder, lock: readIfPresent(path.join(gitDir, 'locked')) ?? null }
  }
  return null
}

/** Returns the worktree that has the branch checked out; null if there is none. */
export async function findBranchHolder(git: Git, branch: string): Promise<string | null> {
  const output = (await git.run(['worktree', 'list', '--porcelain'])).toString()
  const entry = output.split('\n\n').find(text => text.split('\n').includes(`branch refs/heads/${branch}`))
  return entry === undefined ? null : entry.slice('worktree '.length, entry.indexOf('\n'))
}

/**
 * Returns the absolute folder of a worktree. Refuses a path that contains a link: the repository may contain that link.
 */
export function worktreeFolder({ path: folder }: Worktree, doing: string): string {
  const whole = path.resolve(folder)
  if (canonicalPath(whole) !== whole) failPermanently(doing, `${folder} leads elsewhere by a link: remove the link`)
  return whole
}

/** Returns a path as git records it, even if it does not exist yet. */
export function canonicalPath(file: string): string {
  try {
    return fs.realpathSync(file)
  } catch (cause) {
    if (!hasCode(cause, 'ENOENT') || file === path.dirname(file)) throw cause
    return path.join(canonicalPath(path.dirname(file)), path.basename(file))
  }
}

function readIfPresent(file: string): string | undefined {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch {
    return undefined // The file is missing: the entry is incomplete, or it vanished.
  }
}
