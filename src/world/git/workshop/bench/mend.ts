import fs from 'node:fs'
import path from 'node:path'
import type { Bench } from '../../../../ports/workshop.ts'
import { lstat } from '../../lstat.ts'
import type { Place } from '../../place.ts'
import { commitAt, objectsAt } from '../shop.ts'
import { open } from './open.ts'
import { canonical, registeredAt } from './registry.ts'

/**
 * Makes a worktree and its branch anew where somebody has removed them. The branch begins where it last was, as far as git has that
 * written down, else at `commit`. Answers what was missing.
 */
export async function mend(place: Place, bench: Bench, commit: string): Promise<'folder' | 'branch' | null> {
  const { git, repository } = place
  const folder = canonical(bench.path)
  const ref = `refs/heads/${bench.branch}`
  const isBranchGone = (await commitAt(git, ref)) === null
  if (isBranchGone) {
    const last = lastHeadIn(registeredAt(repository, folder)?.gitDir)
    const [there = null] = last === null ? [] : await objectsAt(git, [`${last}^{commit}`])
    await git.run(['update-ref', '-m', 'oneshot: the branch was gone', ref, there ?? commit])
  }
  const isFolderGone = lstat(path.join(folder, '.git')) === undefined
  if (isFolderGone) await open(place, bench, commit)
  return isFolderGone ? 'folder' : isBranchGone ? 'branch' : null
}

/** Both are there, as a look at the files shows. */
export function isWhole({ repository }: Place, bench: Bench): boolean {
  const ref = path.join(repository.commonDir, 'refs', 'heads', bench.branch)
  return lstat(path.join(bench.path, '.git')) !== undefined && lstat(ref) !== undefined
}

/** What was last checked out in a worktree. */
function lastHeadIn(gitDir: string | undefined): string | null {
  if (gitDir === undefined) return null
  try {
    const lines = fs
      .readFileSync(path.join(gitDir, 'logs', 'HEAD'), 'latin1')
      .trimEnd()
      .split('\n')
    return /^\S+ ([0-9a-f]{40,64}) /.exec(lines.at(-1) ?? '')?.[1] ?? null
  } catch {
    return null // None is kept.
  }
}
