import fs from 'node:fs'
import path from 'node:path'
import type { Bench } from '../../../../ports/workshop.ts'
import { readRegular, replaceIn } from '../../../os/files.ts'
import { makeStraight } from '../../../os/open-folder.ts'
import { lstat } from '../../lstat.ts'
import type { Place } from '../../place.ts'
import type { Repository } from '../../repository.ts'
import { benchIn } from '../notes.ts'
import { commitAt, hashOf, objectsAt } from '../shop.ts'
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
  const isFolderGone = !isLinked(repository, folder)
  if (isFolderGone && isEmpty(folder)) await open(place, bench, commit)
  else if (isFolderGone) await link(place, { ...bench, path: folder })
  return isFolderGone ? 'folder' : isBranchGone ? 'branch' : null
}

/** Both are there, as a look at the files shows. */
export function isWhole({ repository }: Place, bench: Bench): boolean {
  const ref = path.join(repository.commonDir, 'refs', 'heads', bench.branch)
  return lstat(ref) !== undefined && isLinked(repository, canonical(bench.path))
}

/** The folder and git's entry for it lead to each other. A repository of the agent's own is left alone, and refused where it is used. */
function isLinked(repository: Repository, folder: string): boolean {
  const stat = lstat(path.join(folder, '.git'))
  return stat !== undefined && (!stat.isFile() || registeredAt(repository, folder)?.gitDir === linkIn(folder))
}

function linkIn(folder: string): string | null {
  const text = readRegular(path.join(folder, '.git'), LONGEST_LINK).content.toString()
  const target = /^gitdir: (.+)\n?$/.exec(text)?.[1]
  return target === undefined ? null : canonical(path.resolve(folder, target))
}

const LONGEST_LINK = 16_384

function isEmpty(folder: string): boolean {
  return lstat(folder) === undefined || fs.readdirSync(folder).length === 0
}

/** Makes git's entry of a worktree anew, or the link to it, beside the files that lie there: they stay as they are. */
async function link({ git, repository }: Place, { path: folder, branch }: Bench): Promise<void> {
  const known = registeredAt(repository, folder)
  const gitDir = known?.gitDir ?? path.join(repository.commonDir, 'worktrees', `oneshot-${hashOf(folder)}`)
  const files = { commondir: '../..\n', HEAD: `ref: refs/heads/${branch}\n`, gitdir: `${folder}/.git\n` }
  if (known === null) for (const [name, text] of Object.entries(files)) put(gitDir, name, text)
  benchIn(gitDir).write({ branch })
  put(folder, '.git', `gitdir: ${gitDir}\n`)
  if (known === null) await git.at(folder).run(['reset', '--quiet'])
}

function put(folder: string, name: string, text: string): void {
  const held = makeStraight(folder)
  try {
    replaceIn(held, name, text)
  } finally {
    held.close()
  }
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
