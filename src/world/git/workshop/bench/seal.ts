import fs from 'node:fs'
import { below, bytesOf, joinRaw, type RawPath, shown } from '../../../../lib/raw-path.ts'
import type { Bench } from '../../../../ports/workshop.ts'
import { unlinkBelow } from '../../../os/remove-tree.ts'
import type { Snapshot } from '../../../../core/loop/evidence.ts'
import { headOf } from '../../head.ts'
import { identityIn } from '../../identity.ts'
import type { Place } from '../../place.ts'
import { underWay } from '../../under-way.ts'
import { asideOf, isView } from '../aside.ts'
import { lookNow } from '../look-now.ts'
import { commitOn } from './commit-on.ts'
import { settle } from './merge.ts'
import { refuse } from '../notes.ts'
import { commitAt, isIn, objectsAt } from '../shop.ts'
import { changesOf, type Entry, treeWithout } from '../tree-without.ts'

export interface Seal {
  readonly bench: Bench
  readonly message: string
  readonly apart: readonly string[]
  readonly base: string
  /** What was judged; null to commit what lies there now. */
  readonly judged: Snapshot | null
}

/**
 * Commits what was judged of a worktree, or what lies there, the given paths as `base` has them. The files follow last: until then it can
 * be repeated.
 */
export async function seal(place: Place, { bench, message, apart, base, judged }: Seal): Promise<string> {
  const doing = `committing the work on ${bench.branch}`
  await settle(place)
  // Left behind by the agent or the check, a process may have committed since.
  if (judged !== null && (await headOf(place)) !== judged.head)
    return sealBeside(place, { message, apart, base, judged, doing })
  const merged = await mergeHeadOf(place, doing)
  await returnToBranch(place, bench, doing)
  const { head: at, tree: found } = judged ?? (await seenNow(place))
  const head = at ?? refuse(doing, 'its branch has no commit')
  if (merged !== null) await assertResolved(place, [head, merged], found, doing)
  const aside = await asideChanges(place, { head, tree: found, apart, base, doing })
  const strays = merged === null ? await strayRepositories(place, head, found) : []
  const tree = await treeWithout(place, found, [...aside, ...strays])
  const commit = await commitTree(place, { tree, head, merged, message })
  await place.git.run(['reset', '--quiet', '--mixed', commit])
  await bringBack(place, aside)
  return commit
}

async function seenNow(place: Place): Promise<Snapshot> {
  const { seen, tree } = await lookNow(place)
  return { head: seen.head, tree }
}

interface DetachedSeal {
  readonly message: string
  readonly apart: readonly string[]
  readonly base: string
  readonly judged: Snapshot
  readonly doing: string
}

/** Makes the commit of what was judged, where HEAD has moved on: nothing else is touched. */
async function sealBeside(place: Place, { message, apart, base, judged, doing }: DetachedSeal): Promise<string> {
  const { head, tree: found } = judged
  if (head === null) return refuse(doing, 'its branch has no commit')
  const aside = await asideChanges(place, { head, tree: found, apart, base, doing })
  const tree = await treeWithout(place, found, [...aside, ...(await strayRepositories(place, head, found))])
  const [whole, now = null, before, parent] = await objectsAt(place.git, [
    `${head}^{tree}`,
    'HEAD^{commit}',
    'HEAD^{tree}',
    'HEAD^1',
  ])
  if (tree === whole) return head
  // We were killed after the commit was made.
  if (now !== null && tree === before && parent === head) {
    await place.git.run(['reset', '--quiet', '--mixed', now])
    await bringBack(place, aside)
    return now
  }
  return place.git.line(['commit-tree', tree, '-p', head], { input: message, env: await identityIn(place.git) })
}

/** A merge that somebody has resolved is a part of the work; anything else that is under way is not ours to end. */
async function mergeHeadOf({ git, repository }: Place, doing: string): Promise<string | null> {
  const what = underWay(repository.gitDir)
  if (what === null) return null
  if (what !== 'a merge') refuse(doing, `${what} is under way in ${repository.top}`)
  return git.line(['rev-parse', '--verify', 'MERGE_HEAD'])
}

/** Whoever worked here may have gone over to a branch of their own, or to none: what is committed there is work as well. */
async function returnToBranch(place: Place, { branch }: Bench, doing: string): Promise<void> {
  const { git } = place
  const ref = `refs/heads/${branch}`
  if ((await git.ask(['symbolic-ref', '--quiet', 'HEAD'])).stdout.toString().trim() === ref) return
  const [head, tip] = [await headOf(place), await commitAt(git, ref)]
  if (head === null) return refuse(doing, 'its branch has no commit')
  if (tip !== null && !(await isIn(git, tip, head))) {
    refuse(doing, `another commit than that of ${branch} is checked out, and does not follow it`)
  }
  await git.run([
    'update-ref',
    '-m',
    'oneshot: work of another branch',
    ref,
    head,
    tip ?? place.repository.nothing.commit,
  ])
  await git.run(['symbolic-ref', '-m', 'oneshot: back to the branch', 'HEAD', ref])
}

/** Looked for in files that are as neither side has them, whether somebody has told git that they are resolved or not. */
async function assertResolved(place: Place, sides: readonly string[], tree: string, doing: string): Promise<void> {
  const [ours = [], theirs = []] = await Promise.all(sides.map(side => changesOf(place, side, tree)))
  const paths = new Set(theirs.map(entry => entry.path))
  const open = ours.find(entry => paths.has(entry.path) && hasMarks(place.repository.top, entry.path))
  if (open !== undefined) refuse(doing, `the conflict in ${shown(open.path)} is not resolved`)
}

function hasMarks(top: string, file: RawPath): boolean {
  const place = below(top, file)
  if (!fs.lstatSync(place, { throwIfNoEntry: false })?.isFile()) return false
  const text = fs.readFileSync(place, 'latin1')
  return /^<{7} /m.test(text) && /^>{7} /m.test(text)
}

/** What is different of the paths that do not count, since the work parted from `base`. */
async function asideChanges(
  place: Place,
  given: { head: string; tree: string; apart: readonly string[]; base: string; doing: string },
): Promise<Entry[]> {
  const { git, repository } = place
  const base = (await commitAt(git, given.base)) ?? refuse(given.doing, `there is no commit ${given.base}`)
  const parted = await git.ask(['merge-base', base, given.head])
  const from = parted.code === 0 ? (parted.stdout.toString().split('\n')[0] as string) : base
  const isAside = asideOf(repository.top, repository.top, given.apart)
  return (await changesOf(place, from, given.tree)).filter(entry => isAside(entry.path))
}

/** Other repositories that were made in it: a commit would only tell of them, and look as if it held them. */
async function strayRepositories(place: Place, head: string, tree: string): Promise<Entry[]> {
  return (await changesOf(place, head, tree)).filter(({ before, isRepository }) => before === null && isRepository)
}

async function commitTree(
  place: Place,
  { tree, head, merged, message }: { tree: string; head: string; merged: string | null; message: string },
): Promise<string> {
  if (merged === null && tree === (await place.git.line(['rev-parse', `${head}^{tree}`]))) return head
  return commitOn(place, { tree, parents: [head, ...(merged === null ? [] : [merged])], message })
}

/** Files as they are in the commit now; those that it does not have go. Views of sessions are nobody's work, and stay. */
async function bringBack({ git, repository }: Place, aside: readonly Entry[]): Promise<void> {
  const files = aside.filter(entry => !isView(entry.path))
  const gone = files.filter(({ before }) => before === null)
  for (const { path: file } of gone) unlinkBelow(repository.top, bytesOf(file))
  const rest = files.filter(({ before }) => before !== null)
  if (rest.length === 0) return
  const input = joinRaw(rest.map(entry => entry.path))
  await git.run(['checkout-index', '--quiet', '--force', '-z', '--stdin'], { input })
}
