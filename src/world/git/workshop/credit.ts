import type { ChangedFile, Evidence, Snapshot } from '../../../core/loop/evidence.ts'
import { type RawPath, rawPath } from '../../../lib/raw-path.ts'
import { NO_INDEX } from '../git.ts'
import type { Instant } from '../../../lib/time.ts'
import type { Worker } from '../../../ports/workshop.ts'
import type { Place } from '../place.ts'
import { filesIn } from './compare-trees.ts'
import { logOf } from './log-of.ts'
import { commitsMadeSince, type Move } from './reflog.ts'
import { movesOf } from './own-moves.ts'
import { readRaw, takenFrom } from './taken.ts'

interface Credit extends Pick<Evidence, 'commits' | 'commitCount' | 'foreign'> {
  readonly changed: readonly ChangedFile[]
}

interface Given {
  readonly since: Snapshot
  readonly worker: Worker | null
  /** When the work was begun: commits that were written before, and only repeated here, are not its own. Null: nobody knows. */
  readonly begunAt: Instant | null
  /** The branch of the work; null for the one that the user has checked out. */
  readonly branch: string | null
}

interface Looked extends Given {
  readonly now: Snapshot
  readonly changed: readonly ChangedFile[]
}

type Logged = Awaited<ReturnType<typeof logOf>>[number]

/** Nobody makes more in one iteration; beyond it commits are only counted. */
const MOST = 1_000

/**
 * What of all that is different whoever worked here has done. Commits that came from elsewhere, by a merge or a pull, are not its
 * own, nor are those that others made here. A file that is now as such a commit has left it, or as another branch had it before, is not
 * its work either.
 */
export async function creditOf(place: Place, given: Looked): Promise<Credit> {
  const credit = await creditForCommits(place, given)
  const { since, now, begunAt, branch } = given
  if (begunAt === null) return credit
  const known = [since.head, now.head].filter(head => head !== null)
  const taken = await takenFrom(place, { changed: credit.changed, known, own: branch, begunAt })
  if (taken.paths.size === 0) return credit
  return {
    ...credit,
    foreign: (credit.foreign ?? 0) + taken.commits.size,
    changed: credit.changed.map(file => (taken.paths.has(file.path) ? { ...file, isOwn: false } : file)),
  }
}

async function creditForCommits(place: Place, given: Looked): Promise<Credit> {
  const { since, now, changed } = given
  if (now.head === null || now.head === since.head) return { commits: [], commitCount: 0, changed }
  const range = [now.head, ...(since.head === null ? [] : [`^${since.head}`])]
  const all = await logOf(place, [`--max-count=${MOST}`, ...range, '--'])
  const own = ownOf(place, all, given)
  const mine = own === null ? all : all.filter(({ id }) => own.has(id))
  const commits = mine.map(({ id, subject }) => ({ id, subject }))
  const isMerge = mine.some(({ parents }) => parents.length > 1)
  if (mine.length === all.length && !isMerge) return { commits, commitCount: commits.length, changed }
  const others = new Set(all.map(({ id }) => id).filter(id => own !== null && !own.has(id)))
  const brought = await broughtBy(place, range, others)
  const isBrought = ({ path, after, isCommitted }: ChangedFile): boolean =>
    isCommitted && brought.get(path)?.has(after ?? '') === true
  return {
    commits,
    commitCount: commits.length,
    foreign: others.size,
    changed: changed.map(file => (isBrought(file) ? { ...file, isOwn: false } : file)),
  }
}

/** The ids of the commits that were made here, by the worker; null where nobody knows. */
function ownOf({ repository }: Place, all: readonly Logged[], given: Given): ReadonlySet<string> | null {
  const { since, worker, begunAt } = given
  const made = commitsMadeSince(repository.gitDir, since.reflog ?? 0)
  if (made === null) return null
  const authored = new Map(all.map(({ id, authoredAt }) => [id, authoredAt]))
  const isFresh = ({ to, message }: Move): boolean =>
    begunAt === null || !PICKED.test(message) || (authored.get(to) ?? 0) >= begunAt / 1000 - 1
  const fresh = made.filter(isFresh)
  const own = worker === null ? fresh : movesOf(fresh, worker, repository)
  return new Set(own.map(({ to }) => to))
}

/** Moves to a commit that repeats another one, with the author and the date of that. */
const PICKED = /^(?:cherry-pick|am|rebase|pull|[^:]*\((?:pick|reword|fixup|squash|continue)\))/

/** What these commits have left at each path; and what merges took over from their other sides. */
async function broughtBy(
  place: Place,
  range: readonly string[],
  others: ReadonlySet<string>,
): Promise<ReadonlyMap<RawPath, ReadonlySet<string>>> {
  const brought = new Map<RawPath, Set<string>>()
  const add = (file: RawPath, entry: string): void => {
    brought.set(file, (brought.get(file) ?? new Set()).add(entry))
  }
  const command = ['log', '--first-parent', '-m', '--raw', '-z', '--no-renames', '--abbrev=64', '--format=%x01%H %P']
  const said = rawPath(await place.git.run([...command, ...range, '--'], { index: NO_INDEX }))
  for (const text of said.split('\u0001').slice(1)) {
    const [head = '', ...words] = text.split('\0')
    const [id = '', ...parents] = head.trim().split(' ')
    const entries = readRaw(words)
    const isOther = others.has(id)
    const isMerge = !isOther && parents.length > 1
    const sides = isMerge ? await Promise.all(parents.slice(1).map(side => filesIn(place, side))) : []
    for (const [file, entry] of entries)
      if (isOther || sides.some(side => (side.get(file) ?? '') === entry)) add(file, entry)
  }
  return brought
}
