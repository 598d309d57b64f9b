import { OURS } from '../../identity.ts'
import type { Place } from '../../place.ts'
import { NO_INDEX } from '../../git.ts'
import { type RawPath, splitRaw } from '../../../../lib/raw-path.ts'
import { changesIn } from '../compare-trees.ts'

/** Commits of the user's branch that are looked at; a squash that is older has been built upon long since. */
const MOST = '500'

/** Merges that are tried: a message can name any number of commits. */
const MOST_TRIES = 50

/** A commit of the user's that may be a squash, and a commit of the branch that it may contain. */
interface Candidate {
  readonly ours: string
  readonly theirs: string
  /** How many commits of the branch are newer. */
  readonly age: number
}

/**
 * The newest commit of a branch whose work the user's branch has by a squash. Git itself knows nothing of it, and would merge the same
 * work a second time. Null where there is none.
 *
 * A commit of the user's is a candidate if it has the same files as one of the branch, or names it as `git merge --squash` does. Anybody
 * can write such a message, so the files decide: a candidate counts if merging the branch's commit into it changes nothing.
 */
export async function squashedIn(
  place: Place,
  { head, theirs, list }: { head: string; theirs: string; list: RawPath | null },
): Promise<string | null> {
  let known: Candidate | null = null
  for (const candidate of (await candidatesIn(place, head, theirs)).slice(0, MOST_TRIES)) {
    const isNewer: boolean = known === null || candidate.age < known.age
    if (isNewer && (await contains(place, { ...candidate, list }, known?.theirs ?? null))) known = candidate
  }
  return known?.theirs ?? null
}

/** By the commits of the user, the oldest first; of those that one may contain, the newest first. */
async function candidatesIn({ git }: Place, head: string, theirs: string): Promise<Candidate[]> {
  const log = (await git.line(['log', '--topo-order', '--format=%H %T', `${head}..${theirs}`, '--'])).split('\n')
  const branch = log.map(line => line.split(' ') as [id: string, tree: string])
  const ages = new Map(branch.map(([id], at) => [id, at]))
  const byTree = new Map(branch.toReversed().map(([id, tree]) => [tree, id]))
  const range = [`--max-count=${MOST}`, '--format=%H %T%n%B', `${theirs}..${head}`, '--']
  const ours = (await git.run(['log', '-z', '--topo-order', ...range])).toString().split('\0').toReversed()
  return ours.flatMap(text => {
    const [first = '', ...message] = text.split('\n')
    const [id = '', tree = ''] = first.split(' ')
    const named = message.flatMap(line => /^commit ([0-9a-f]{40,64})$/.exec(line)?.[1] ?? [])
    const found = [...new Set([byTree.get(tree) ?? '', ...named])].flatMap(one => {
      const age = ages.get(one)
      return age === undefined ? [] : [{ ours: id, theirs: one, age }]
    })
    return found.toSorted((one, other) => one.age - other.age)
  })
}

type Pair = Pick<Candidate, 'ours' | 'theirs'> & { readonly list: RawPath | null }

/**
 * Whether a merge of the branch's commit would change nothing. A conflict in the list of tasks alone does not count: a landing resolves
 * that. `known`: a commit of the branch that was contained before.
 */
async function contains(place: Place, { ours, theirs, list }: Pair, known: string | null): Promise<boolean> {
  const { git } = place
  const [tree = '', other = ''] = (await git.line(['rev-parse', `${ours}^{tree}`, `${theirs}^{tree}`])).split('\n')
  if (tree === other) return true
  const parents = ['-p', ours, ...(known === null ? [] : ['-p', known])]
  const joined = known === null ? ours : await git.line(['commit-tree', ...parents, tree], { input: '', env: OURS })
  const words = ['merge-tree', '--write-tree', '-z', '--no-messages', '--name-only', joined, theirs]
  const answer = await git.ask(words, { index: NO_INDEX })
  const [merged = '', ...conflicts] = splitRaw(answer.stdout)
  if (answer.code === 0) return merged === tree
  if (answer.code !== 1) return hasAllFiles(place, { ours, theirs, list }, known)
  if (!conflicts.every(file => file === list)) return false
  const [changes] = await changesIn(place, [[tree, merged]])
  return changes?.every(({ path }) => path === list) === true
}

/** For git before 2.38, which merges nothing without a working tree: each file that the branch has changed is the same. */
async function hasAllFiles(place: Place, { ours, theirs }: Pair, known: string | null): Promise<boolean> {
  const base = known ?? (await place.git.line(['merge-base', ours, theirs]))
  const [made, different] = await changesIn(place, [
    [base, theirs],
    [ours, theirs],
  ])
  const paths = new Set((different ?? []).map(({ path }) => path))
  return made !== null && made !== undefined && different !== null && !made.some(({ path }) => paths.has(path))
}

/** As `git merge --squash` writes it, for the next landing to find. */
export function squashMessage(message: string, theirs: string): string {
  return `${message}\n\nSquashed commit of the following:\n\ncommit ${theirs}\n`
}
