import fs from 'node:fs'
import path from 'node:path'
import { below, shown } from '../../../../lib/raw-path.ts'
import type { Bench, Cleared } from '../../../../ports/workshop.ts'
import { removeTree } from '../../../os/remove-tree.ts'
import { GitFailed } from '../../git-failed.ts'
import { lstat } from '../../lstat.ts'
import type { Place } from '../../place.ts'
import { UPDATE_REF } from '../../ref.ts'
import { underWay } from '../../under-way.ts'
import { goneOf, sweepGone } from './gone.ts'
import { letGo } from './kept.ts'
import { lookNow } from '../look-now.ts'
import { benchIn, refuse } from '../notes.ts'
import { removeHalfMade } from './open.ts'
import { benchFolder, holderOf, type Registered, registeredAt } from './registry.ts'
import { isIn, objectsAt, placeAt, seenRef } from '../shop.ts'

const UNCOMMITTED = 'has files that are not committed'

/** Removes a worktree and its branch, unless something would be lost by it. */
export async function clear(place: Place, bench: Bench, into: string): Promise<Cleared> {
  const folder = benchFolder(bench, `clearing ${bench.branch}`)
  sweepGone(folder)
  await removeHalfMade(place, bench)
  const ref = `refs/heads/${bench.branch}`
  const names = [`refs/heads/${into}^{commit}`, `${into}^{commit}`, ref]
  const [branch = null, other = null, tip = null] = await objectsAt(place.git, names)
  const target = branch ?? other ?? refuse(`clearing ${bench.branch}`, `there is no commit ${into}`)
  const known = registeredAt(place.repository, folder)
  const reason =
    (tip === null ? null : await objectionOfBranch(place, { ...bench, path: folder }, target)) ??
    (await objectionOfTree(place, known, folder, { target, tip }))
  if (reason !== null) return { kind: 'kept', reason, ...(reason.endsWith(UNCOMMITTED) && { isDirty: true }) }
  if (known !== null) await removeWorktree(place, known)
  await removeRefs(place, bench.branch, [ref, tip ?? '', seenRef(folder)])
  await letGo(place, bench.branch, target)
  return { kind: 'gone' }
}

async function objectionOfBranch({ git }: Place, bench: Bench, target: string): Promise<string | null> {
  const { branch } = bench
  const ref = `refs/heads/${branch}`
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
  return refs.length > 0 ? null : `no other branch has the commits of ${branch}`
}

async function objectionOfTree(
  outer: Place,
  known: Registered | null,
  folder: string,
  { target, tip }: { target: string; tip: string | null },
): Promise<string | null> {
  if (lstat(folder) === undefined) return null
  if (known === null || lstat(path.join(folder, '.git')) === undefined) return `${folder} is not a worktree`
  if (known.lock !== null) return `${folder} is locked: ${known.lock.trim() || 'no reason is given'}`
  if (benchIn(known.gitDir).read() === null) return `${folder} is not a worktree of ours`
  const place = await placeAt(outer.git.at(folder), outer.memory, outer.largest)
  const doing = underWay(place.repository.gitDir)
  if (doing !== null) return `${doing} is under way in ${folder}`
  const [head = null, whole = null] = await objectsAt(place.git, ['HEAD^{commit}', 'HEAD^{tree}'])
  // The branch is in it already, or we would not be here.
  if (head === null || whole === null || (head !== tip && !(await isIn(place.git, head, target))))
    return `HEAD of ${folder} has commits that are nowhere else`
  return objectionOfFiles(place, head, whole)
}

/** What is neither committed nor ignored; what is only staged; what is another repository, with a history of its own. */
async function objectionOfFiles(place: Place, head: string, whole: string): Promise<string | null> {
  const { git, repository } = place
  const { top } = repository
  const { tree, leftOut, gitlinks, seen } = await lookNow(place)
  const inside = [...gitlinks, ...seen.differences.filter(one => one.isRepository).map(one => one.path)]
  const nested = inside.find(one => lstat(Buffer.concat([below(top, one), Buffer.from('/.git')])) !== undefined)
  if (nested !== undefined) return `${shown(nested)} in ${top} is a repository of its own`
  const [large] = leftOut
  if (large !== undefined) return `in ${top} ${large}`
  const staged = await git.ask(['diff-index', '--cached', '--quiet', head, '--'])
  if (staged.code !== 0) return `${top} has staged changes that are not committed`
  return tree === whole ? null : `${top} ${UNCOMMITTED}`
}

/** Moved away first: from then on nobody takes what is left of it for work. */
async function removeWorktree({ git }: Place, { path: folder, gitDir }: Registered): Promise<void> {
  if (lstat(folder) !== undefined) fs.renameSync(folder, goneOf(folder))
  await git.run(['worktree', 'remove', '--force', '--', folder])
  removeTree(gitDir)
  sweepGone(folder)
}

/** `refs`: the branch, where it is, or nothing when it is gone, and what was seen of its worktree. */
async function removeRefs(
  { git, repository }: Place,
  branch: string,
  refs: readonly [ref: string, tip: string, seen: string],
): Promise<void> {
  const answer = await git.script(REMOVE, refs)
  if (answer.code !== 0) throw new GitFailed('update-ref', answer)
  const isTold = answer.stdout.toString().includes(`branch.${branch}.`)
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

/** Answers what the settings say of branches. */
const REMOVE = `
[ -z "$2" ] || git ${UPDATE_REF.join(' ')} -d "$1" "$2" || exit
git ${UPDATE_REF.join(' ')} -d "$3" || exit
git config --local --get-regexp '^branch[.]'
:
`
