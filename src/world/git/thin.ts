import { thinCheckpoints } from '../../core/thin-checkpoints.ts'
import type { RawPath } from '../../lib/raw-path.ts'
import { invariant } from '../../lib/trouble.ts'
import type { Instant } from '../../lib/time.ts'
import { chainOf } from './chain.ts'
import type { Link } from './link.ts'
import { nestedPlace, type Place } from './place.ts'
import { moveRef } from './ref.ts'

/** For fewer no chain is written anew. */
const WORTH_IT = 20

/** Leaves out of the chain, and of those of nested repositories, what is not worth keeping. Answers how many went. */
export async function thin(place: Place, now: Instant): Promise<number> {
  const chain = await chainOf(place)
  const keep = thinCheckpoints(
    chain.map(({ telling }) => telling),
    now,
  )
  const gone = chain.length - keep.size
  if (gone < WORTH_IT) return 0
  const kept = chain.filter(({ telling }) => keep.has(telling.number))
  await rewrite(place, chain, kept)
  for (const [path, numbers] of statesIn(kept)) await thinNested(place, path, numbers)
  return gone
}

/** Which checkpoints of nested repositories those that are kept tell of. */
function statesIn(kept: readonly Link[]): Map<RawPath, Set<number | string>> {
  const states = new Map<RawPath, Set<number | string>>()
  for (const { path, state } of kept.flatMap(({ telling }) => telling.nested)) {
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

/** Makes a chain of these links alone: the same trees, words and times, with other parents from the first gap on. */
async function rewrite(place: Place, chain: readonly Link[], kept: readonly Link[]): Promise<void> {
  const { git, repository } = place
  const same = kept.findIndex((link, at) => link !== chain[at])
  const [foot, rest] = [kept[same - 1], kept.slice(same)]
  const tip = chain.at(-1)
  invariant(foot !== undefined && tip !== undefined, 'the first link and the last one are kept')
  const commits = await readCommits(place, rest)
  const scratch = `${place.ref}+thinned`
  const stream = rest.map((link, at) => {
    const from = at === 0 ? foot.commit : `:${at}`
    return commitOrder(scratch, at + 1, { ...link, from, raw: commits[at] ?? Buffer.alloc(0) })
  })
  // The scratch ref never comes to be: in the end it leads nowhere.
  const end = `get-mark :${rest.length}\nreset ${scratch}\nfrom ${repository.nothing.commit}\n\n`
  const input = Buffer.concat([...stream, Buffer.from(end)])
  const commit = await git.line(['fast-import', '--quiet', '--date-format=raw'], { input })
  const tree = await git.line(['rev-parse', `${commit}^{tree}`])
  invariant(tree === tip.tree, `the last checkpoint stays the same: ${tip.tree}`)
  await moveRef(place, commit, tip.commit)
}

function commitOrder(ref: string, mark: number, link: Link & { from: string; raw: Buffer }): Buffer {
  const end = link.raw.indexOf('\n\n')
  const headers = link.raw.subarray(0, end).toString('latin1').split('\n')
  const people = headers.filter(line => /^(author|committer) /.test(line))
  const message = link.raw.subarray(end + 2)
  const { head } = link.telling
  const lines = [`commit ${ref}`, `mark :${mark}`, ...people, `data ${message.length}`]
  const after = [`from ${link.from}`, ...(head === null ? [] : [`merge ${head}`]), `M 040000 ${link.tree} ""`]
  return Buffer.concat([
    Buffer.from(`${lines.join('\n')}\n`, 'latin1'),
    message,
    Buffer.from(`${after.join('\n')}\n\n`),
  ])
}

/** The commits as git keeps them. */
async function readCommits({ git }: Place, links: readonly Link[]): Promise<Buffer[]> {
  const said = await git.run(['cat-file', '--batch'], { input: links.map(({ commit }) => `${commit}\n`).join('') })
  const commits: Buffer[] = []
  for (let at = 0; at < said.length; ) {
    const begin = said.indexOf('\n', at) + 1
    const size = Number(said.subarray(at, begin).toString().trim().split(' ')[2])
    commits.push(said.subarray(begin, begin + size))
    at = begin + size + 1
  }
  return commits
}
