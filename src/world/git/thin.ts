import path from 'node:path'
import { thinCheckpoints } from '../../core/thin-checkpoints.ts'
import type { RawPath } from '../../lib/raw-path.ts'
import { invariant } from '../../lib/trouble.ts'
import type { Instant } from '../../lib/time.ts'
import { chainOf } from './chain.ts'
import type { Link } from './link.ts'
import { nestedPlace, type Place } from './place.ts'
import { headIn, type RawCommit, readCommits } from './read-commits.ts'
import { moveRef } from './ref.ts'
import { syncObjects } from './save/objects.ts'
import { bustleIn, isCollecting, isQuietSince, retreatWhenBroken } from './save/soundness.ts'
import { syncAll } from './sync-all.ts'

/** For fewer no chain is written anew. */
const WORTH_IT = 20

/** Leaves out of the chain, and of those of nested repositories, what is not worth keeping. Answers how many went. */
export async function thin(place: Place, now: Instant): Promise<number> {
  if (isCollecting(place)) return 0
  const chain = await chainOf(place)
  const keep = thinCheckpoints(
    chain.map(({ telling }) => telling),
    now,
  )
  const gone = chain.length - keep.size
  if (gone < WORTH_IT) return 0
  const kept = chain.filter(({ telling }) => keep.has(telling.number))
  if (!(await rewrite(place, chain, kept))) return 0
  for (const [path, numbers] of statesIn(kept)) await thinNested(place, path, numbers)
  return gone
}

/** Which checkpoints of nested repositories those that are kept tell of. */
function statesIn(kept: readonly Link[]): Map<RawPath, Set<number | string>> {
  const states = new Map<RawPath, Set<number | string>>()
  for (const { path, state, isNoted } of kept.flatMap(({ telling }) => telling.nested)) {
    if (isNoted) continue
    states.set(path, (states.get(path) ?? new Set()).add(state))
  }
  return states
}

async function thinNested(outer: Place, path: RawPath, numbers: ReadonlySet<number | string>): Promise<void> {
  const place = await nestedPlace(outer, path).catch(() => null) // It is gone, and its checkpoints with it.
  if (place === null) return
  const chain = await chainOf(place)
  const kept = chain.filter(({ telling }, at) => at === 0 || at === chain.length - 1 || numbers.has(telling.number))
  if (kept.length < chain.length) await rewrite(place, chain, kept)
}

/**
 * Makes a chain of these links alone: the same trees, words and times, with other parents from the first gap on. Answers whether
 * it is there: a collector of garbage at the same time may have taken it away.
 */
async function rewrite(place: Place, chain: readonly Link[], kept: readonly Link[]): Promise<boolean> {
  const { git, repository } = place
  const same = kept.findIndex((link, at) => link !== chain[at])
  const [foot, rest] = [kept[same - 1], kept.slice(same)]
  const tip = chain.at(-1)
  invariant(foot !== undefined && tip !== undefined, 'the first link and the last one are kept')
  const bustle = bustleIn(place)
  const raw = await readCommits(
    git,
    rest.map(({ commit }) => commit),
  )
  const scratch = `${place.ref}+thinned`
  const stream = raw.map((commit, at) => {
    invariant(commit !== null, 'what is in the chain is there')
    return commitOrder(scratch, at + 1, commit, at === 0 ? foot.commit : `:${at}`)
  })
  // The scratch ref never comes to be: in the end it leads nowhere.
  const marks = rest.map((_, at) => `get-mark :${at + 1}\n`).join('')
  const end = `${marks}reset ${scratch}\nfrom ${repository.nothing.commit}\n\n`
  const input = Buffer.concat([...stream, Buffer.from(end)])
  const commits = (await git.line(['fast-import', '--quiet', '--date-format=raw'], { input })).split('\n')
  const commit = commits.at(-1) ?? ''
  const tree = await git.line(['rev-parse', `${commit}^{tree}`])
  invariant(tree === tip.tree, `the last checkpoint stays the same: ${tip.tree}`)
  await syncObjects(place, commits)
  await syncAll([path.join(repository.commonDir, 'objects', 'pack')]) // Where git puts them if they are many.
  await moveRef(place, commit, tip.commit)
  const suspect = { commit, before: tip.commit, objects: commits }
  return isQuietSince(place, bustle) || !(await retreatWhenBroken(place, suspect))
}

function commitOrder(ref: string, mark: number, raw: RawCommit, from: string): Buffer {
  const head = headIn(raw)
  const lines = [`commit ${ref}`, `mark :${mark}`, ...raw.people, `data ${raw.message.length}`]
  const after = [`from ${from}`, ...(head === null ? [] : [`merge ${head}`]), `M 040000 ${raw.tree} ""`]
  return Buffer.concat([
    Buffer.from(`${lines.join('\n')}\n`, 'latin1'),
    raw.message,
    Buffer.from(`${after.join('\n')}\n\n`),
  ])
}
