import fs from 'node:fs'
import path from 'node:path'
import type { Bench } from '../../../../ports/workshop.ts'
import { replaceIn } from '../../../os/files.ts'
import { hideFromGit } from '../../../os/hide-from-git.ts'
import { makeStraight } from '../../../os/open-folder.ts'
import { removeTree } from '../../../os/remove-tree.ts'
import type { Git } from '../../git.ts'
import { lstat } from '../../lstat.ts'
import type { Place } from '../../place.ts'
import { sweepGone } from './gone.ts'
import { benchIn, openingOf, refuse } from '../notes.ts'
import { benchFolder, type Registered, registeredAt } from './registry.ts'
import { commitAt } from '../shop.ts'

/** Opens a worktree, or finishes what was begun of it. */
export async function open(place: Place, bench: Bench, from: string): Promise<void> {
  const { git, repository } = place
  const doing = `opening a worktree for ${bench.branch}`
  const folder = benchFolder(bench, doing)
  if ((await git.ask(['check-ref-format', '--branch', bench.branch])).code !== 0) {
    refuse(doing, 'that is no name for a branch')
  }
  hideWorktrees(repository.top, folder)
  sweepGone(folder)
  const known = registeredAt(repository, folder)
  if (known !== null && lstat(path.join(folder, '.git')) !== undefined) {
    if (benchIn(known.gitDir).read() !== null || openingOf(place, folder).read() === null) {
      return adopt(place, known, bench.branch)
    }
  }
  await removeHalfMade(place, bench)
  await assertFree(place, { ...bench, path: folder }, doing)
  await make(place, { ...bench, path: folder }, await startOf(git, from, doing))
}

/**
 * Keeps the worktrees out of git and of packages. A project may track a `.agent` folder of its own: there only the folder of the
 * worktrees is hidden, by the ignore file in it.
 */
function hideWorktrees(top: string, folder: string): void {
  if (lstat(path.join(top, '.agent')) === undefined) hideFromGit(top, ['.agent/'])
  const around = path.join(top, '.agent', 'worktrees')
  if (!folder.startsWith(`${around}/`)) return
  const held = makeStraight(around)
  try {
    if (lstat(held.at('.gitignore')) === undefined) replaceIn(held, '.gitignore', '*\n')
  } finally {
    held.close()
  }
}

/** Takes away what a killed call has left; nobody has worked in it yet. Its branch may stay, unless it begins elsewhere now. */
export async function removeHalfMade(place: Place, bench: Bench): Promise<void> {
  const folder = benchFolder(bench, `opening a worktree for ${bench.branch}`)
  const note = openingOf(place, folder)
  const begun = note.read()
  if (begun === null) return
  removeTree(folder)
  if (registeredAt(place.repository, folder) !== null) {
    await place.git.run(['worktree', 'remove', '--force', '--force', '--', folder])
  }
  if (begun.from !== null && (await tipOf(place.git, bench.branch)) === begun.from) {
    await place.git.run(['update-ref', '-d', `refs/heads/${bench.branch}`, begun.from])
  }
  note.drop()
}

async function adopt(place: Place, known: Registered, branch: string): Promise<void> {
  const mark = benchIn(known.gitDir)
  const held = mark.read()?.branch ?? (await branchIn(place.git.at(known.path)))
  if (held !== branch) {
    refuse(`opening a worktree for ${branch}`, `${known.path} is one for ${held ?? 'no branch'} already`)
  }
  mark.write({ branch })
  openingOf(place, known.path).drop()
}

async function branchIn(git: Git): Promise<string | null> {
  const { code, stdout } = await git.ask(['symbolic-ref', '--quiet', '--short', 'HEAD'])
  return code === 0 ? stdout.toString().trim() : null
}

/** Removes the entry of a worktree whose folder somebody has removed, and of no other one. */
async function assertFree({ git, repository }: Place, bench: Bench, doing: string): Promise<void> {
  const { path: folder, branch } = bench
  const stat = lstat(folder)
  if (stat !== undefined && (!stat.isDirectory() || fs.readdirSync(folder).length > 0)) {
    refuse(doing, `something else lies at ${folder}`)
  }
  const known = registeredAt(repository, folder)
  if (known === null) return
  // An agent may have locked the worktree that is ours, and removed it then.
  const isOurs = benchIn(known.gitDir).read()?.branch === branch
  if (known.lock !== null && !isOurs)
    refuse(doing, `${folder} is missing, and locked: ${known.lock.trim() || 'no reason is given'}`)
  if (stat !== undefined) fs.rmdirSync(folder)
  await git.run(['worktree', 'remove', '--force', '--force', '--', folder])
}

async function startOf(git: Git, from: string, doing: string): Promise<string> {
  return (await commitAt(git, from)) ?? refuse(doing, `there is no commit ${from}`)
}

async function make(place: Place, { path: folder, branch }: Bench, from: string): Promise<void> {
  const { git, repository } = place
  const note = openingOf(place, folder)
  const isNew = (await tipOf(git, branch)) === null
  makeStraight(path.dirname(folder)).close()
  note.write({ from: isNew ? from : null })
  const which = isNew ? ['--no-track', '-b', branch, '--', folder, from] : ['--', folder, branch]
  await git.run(['worktree', 'add', '--quiet', ...which])
  const made = registeredAt(repository, folder)
  if (made === null) throw new Error('git has not noted it down')
  benchIn(made.gitDir).write({ branch })
  note.drop()
}

async function tipOf(git: Git, branch: string): Promise<string | null> {
  const { code, stdout } = await git.ask(['rev-parse', '--verify', '--quiet', `refs/heads/${branch}^{commit}`])
  return code === 0 ? stdout.toString().trim() : null
}
