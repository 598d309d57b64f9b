import fs from 'node:fs'
import path from 'node:path'
import { below, shown } from '../../../../lib/raw-path.ts'
import type { Bench, Cleared } from '../../../../ports/workshop.ts'
import { headOf } from '../../head.ts'
import { lstat } from '../../lstat.ts'
import type { Place } from '../../place.ts'
import { UPDATE_REF } from '../../ref.ts'
import { underWay } from '../../under-way.ts'
import { goneOf, sweepGone } from './gone.ts'
import { letGo } from './kept.ts'
import { lookNow } from '../look-now.ts'
import { benchIn, refuse } from '../notes.ts'
import { removeHalfMade } from './open.ts'
import { canonical, holderOf, type Registered, registeredAt } from './registry.ts'
import { commitAt, isIn, placeAt, seenRef } from '../shop.ts'

/** Removes a worktree and its branch, unless something would be lost by it. */
export async function clear(place: Place, bench: Bench, into: string): Promise<Cleared> {
  const folder = canonical(bench.path)
  sweepGone(folder)
  await removeHalfMade(place, bench)
  const target = (await commitAt(place.git, into)) ?? refuse(`clearing ${bench.branch}`, `there is no commit ${into}`)
  const known = registeredAt(place.repository, folder)
  const reason =
    (await objectionOfBranch(place, { ...bench, path: folder }, target)) ??
    (await objectionOfTree(place, known, folder, target))
  if (reason !== null) return { kind: 'kept', reason }
  if (known !== null) await removeTree(place, known)
  await removeBranch(place, bench.branch)
  await place.git.run([...UPDATE_REF, '-d', seenRef(folder)])
  await letGo(place, bench.branch, target)
  return { kind: 'gone' }
}

async function objectionOfBranch({ git }: Place, bench: Bench, target: string): Promise<string | null> {
  const { branch } = bench
  const ref = `refs/heads/${branch}`
  if ((await git.ask(['rev-parse', '--verify', '--quiet', ref])).code !== 0) return null
  if (!(await isIn(git, ref, target))) {
    const count = await git.line(['rev-list', '--count', ref, `^${target}`])
    return `${branch} has ${count === '1' ? 'a commit that is' : `${count} commits that are`} nowhere else`
  }
  const holder = await holderOf(git, branch)
  if (holder !== null && holder !== bench.path) return `${branch} is checked out at ${holder}`
  // What contains it might be a commit that only this branch leads to.
  const refs = (
    await git.line(['for-each-ref', '--format=%(refname)', `--contains=${ref}`, 'refs/heads', 'refs/remotes'])
  )
    .split('\n')
    .filter(name => name !== '' && name !== ref)
  return refs.length > 0 ? null : `no other branch has what is in ${branch}`
}

async function objectionOfTree(
  outer: Place,
  known: Registered | null,
  folder: string,
  target: string,
): Promise<string | null> {
  if (lstat(folder) === undefined) return null
  if (known === null || lstat(path.join(folder, '.git')) === undefined) return `${folder} is not a worktree`
  if (known.lock !== null) return `${folder} is locked: ${known.lock.trim() || 'no reason is given'}`
  if (benchIn(known.gitDir).read() === null) return `${folder} is not a worktree of ours`
  const place = await placeAt(outer.git.at(folder), outer.memory, outer.largest)
  const doing = underWay(place.repository.gitDir)
  if (doing !== null) return `${doing} is under way in ${folder}`
  const head = await headOf(place)
  if (head === null || (head !== target && !(await isIn(place.git, head, target))))
    return `HEAD of ${folder} has commits that are nowhere else`
  return objectionOfFiles(place, head)
}

/** What is neither committed nor ignored; what is only staged; what is another repository, with a history of its own. */
async function objectionOfFiles(place: Place, head: string): Promise<string | null> {
  const { git, repository } = place
  const { top } = repository
  const { tree, leftOut, gitlinks, seen } = await lookNow(place)
  const [large] = leftOut
  if (large !== undefined) return `in ${top} ${large}`
  const inside = [...gitlinks, ...seen.differences.filter(one => one.isRepository).map(one => one.path)]
  const nested = inside.find(one => lstat(Buffer.concat([below(top, one), Buffer.from('/.git')])) !== undefined)
  if (nested !== undefined) return `${shown(nested)} in ${top} is a repository of its own`
  const staged = await git.ask(['diff-index', '--cached', '--quiet', head, '--'])
  if (tree === (await git.line(['rev-parse', `${head}^{tree}`])) && staged.code === 0) return null
  return `${top} has changes that are not committed`
}

/** Moved away first: from then on nobody takes what is left of it for work. */
async function removeTree({ git }: Place, { path: folder, gitDir }: Registered): Promise<void> {
  if (lstat(folder) !== undefined) fs.renameSync(folder, goneOf(folder))
  await git.run(['worktree', 'remove', '--force', '--', folder])
  fs.rmSync(gitDir, { recursive: true, force: true })
  sweepGone(folder)
}

async function removeBranch({ git, repository }: Place, branch: string): Promise<void> {
  const ref = `refs/heads/${branch}`
  const { code, stdout } = await git.ask(['rev-parse', '--verify', '--quiet', ref])
  if (code !== 0) return
  await git.run([...UPDATE_REF, '-d', ref, stdout.toString().trim()])
  const settings = await git.ask(['config', '--local', '--get-regexp', `^branch\\.`])
  const isTold = settings.stdout.toString().includes(`branch.${branch}.`)
  // Somebody who holds the lock of the settings keeps us from tidying, which is no harm.
  if (isTold)
    await git.ask([
      'config',
      '--file',
      path.join(repository.commonDir, 'config'),
      '--remove-section',
      `branch.${branch}`,
    ])
}
