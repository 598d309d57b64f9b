import fs from 'node:fs'
import path from 'node:path'
import { hasCode } from '../../../../lib/errors.ts'
import type { Worktree } from '../../../../ports/worktrees.ts'
import type { Git } from '../../git.ts'
import type { Repository } from '../../repository.ts'
import { failPermanently } from '../journal.ts'

/** A worktree that git knows of; whether it is there is another question. */
export interface RegisteredWorktree {
  /** Its own git folder. */
  readonly gitDir: string
  readonly path: string
  /** Why it must not be removed; null when it may be. */
  readonly lock: string | null
}

/** The one at this path, read from git's own folder: its list looks for all of them, and cannot tell odd names apart. */
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

/** Where a branch is checked out; null when it is nowhere. */
export async function findBranchHolder(git: Git, branch: string): Promise<string | null> {
  const said = (await git.run(['worktree', 'list', '--porcelain'])).toString()
  const entry = said.split('\n\n').find(text => text.split('\n').includes(`branch refs/heads/${branch}`))
  return entry === undefined ? null : entry.slice('worktree '.length, entry.indexOf('\n'))
}

/** Where a worktree of ours lies, or is to lie. Refuses a path with a link in it: the repository may have brought that along. */
export function worktreeFolder({ path: folder }: Worktree, doing: string): string {
  const whole = path.resolve(folder)
  if (canonicalPath(whole) !== whole) failPermanently(doing, `${folder} leads elsewhere by a link: remove the link`)
  return whole
}

/** A path as git would note it down, also of what is not there yet. */
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
    return undefined // It is not there: half made, or gone meanwhile.
  }
}
