import { type RawPath, shown, splitRaw } from '../../../../lib/raw-path.ts'
import { headOf } from '../../head.ts'
import { identityIn } from '../../identity.ts'
import type { LandedList } from '../../../../ports/workshop.ts'
import type { Place } from '../../place.ts'
import { findInTheWay } from '../../restore/in-the-way.ts'
import { underWay } from '../../under-way.ts'
import { takeBack } from './halfway.ts'
import { lookNow } from '../look-now.ts'
import { mergeBeside } from './merge-beside.ts'
import { landingIn, refuse } from '../notes.ts'
import { commitAt, isIn } from '../shop.ts'
import { changesOf } from '../tree-without.ts'
import { squashedIn, squashMessage } from './squashed.ts'

export interface Landed {
  readonly commit: string
  readonly isForward: boolean
}

export interface How {
  /** All of it as one commit, which does not have the branch in its history. */
  readonly isSquash?: boolean
  /** Only look whether it can be done. */
  readonly isDry?: boolean
  /** The list of tasks: where only that conflicts, the user's version with the ticks of the branch is taken. */
  readonly list?: LandedList
}

/**
 * Brings a branch into the user's checkout. That only ever goes forward: what has to be merged is merged beside it. No hook of
 * the user's is run, here as elsewhere: they would be run by whoever looks after the loop, at a time that nobody has chosen.
 */
export async function land(place: Place, branch: string, message: string, how: How = {}): Promise<Landed> {
  const { git, repository } = place
  const doing = `landing ${branch} in ${repository.top}`
  await takeBack(place, doing)
  const theirs = (await commitAt(git, branch)) ?? refuse(doing, 'there is no such branch')
  const head = (await headOf(place)) ?? refuse(doing, 'there is no commit yet')
  if (await isIn(git, theirs, head)) return { commit: head, isForward: theirs === head }
  const isAhead = await isIn(git, head, theirs)
  const squashed = isAhead ? null : await squashedIn(place, { head, theirs, list: how.list?.file ?? null })
  if (squashed === theirs) return { commit: head, isForward: false }
  const what = underWay(repository.gitDir)
  if (what !== null) refuse(doing, `${what} is under way: end it first`)
  const ref = (await git.ask(['symbolic-ref', '--quiet', 'HEAD'])).stdout.toString().trim() || null
  if (ref === null && !isAhead) refuse(doing, 'no branch is checked out, so that there is nothing to merge into')
  const merged = isAhead ? theirs : await mergeBeside(place, { head, theirs, squashed, message, doing, list: how.list })
  const target = how.isSquash === true ? await squash(place, { head, theirs, merged, message }) : merged
  const isForward = target === theirs
  await assertWayFree(place, head, target, doing)
  if (how.isDry === true) return { commit: target, isForward }
  landingIn(place).write({ head, target, ref })
  await git.run(['merge', '--quiet', '--no-stat', '--ff-only', '--no-verify-signatures', target])
  landingIn(place).drop()
  return { commit: target, isForward }
}

async function squash(
  { git }: Place,
  { head, theirs, merged, message }: { head: string; theirs: string; merged: string; message: string },
): Promise<string> {
  const words = ['commit-tree', '-p', head, '-F', '-', `${merged}^{tree}`]
  return git.line(words, { input: squashMessage(message, theirs), env: await identityIn(git) })
}

/** git would refuse changed files as well, and write over ignored ones. */
async function assertWayFree(place: Place, head: string, target: string, doing: string): Promise<void> {
  const moving = new Set((await changesOf(place, head, target)).map(({ path }) => path))
  const { tree } = await lookNow(place)
  const changed = (await changesOf(place, head, tree)).map(({ path }) => path)
  const staged = splitRaw(await place.git.run(['diff-index', '--cached', '--name-only', '-z', head, '--']))
  const dirty = [...new Set([...changed, ...staged])].filter(path => moving.has(path))
  if (dirty.length > 0) refuse(doing, `${named(dirty)} changed here as well: commit or stash that first`)
  const inTheWay = await findInTheWay(place, { from: head, to: target }, () => false)
  if (inTheWay.length > 0) refuse(doing, `${named(inTheWay)} in the way, and not in git: move that first`)
}

function named(paths: readonly RawPath[]): string {
  const [first = '', ...more] = paths
  return more.length === 0 ? `${shown(first)} is` : `${shown(first)} and ${more.length} more are`
}
