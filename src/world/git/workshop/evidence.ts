import path from 'node:path'
import { type ChangedFile, evidenceOf, type Sighting, type Snapshot } from '../../../core/loop/evidence.ts'
import { type RawPath, rawPath, shown } from '../../../lib/raw-path.ts'
import type { Instant } from '../../../lib/time.ts'
import type { Worker } from '../../../ports/workshop.ts'
import { NO_INDEX } from '../git.ts'
import { GitFailed } from '../git-failed.ts'
import { OURS } from '../identity.ts'
import type { Place } from '../place.ts'
import { lstat } from '../lstat.ts'
import { healLock, UPDATE_REF } from '../ref.ts'
import { DIFF_TREES } from '../save/delta.ts'
import { underWay } from '../under-way.ts'
import { asideOf } from './aside.ts'
import { markedFiles } from './conflict-marks.ts'
import { creditOf } from './credit.ts'
import { lookNow } from './look-now.ts'
import { reflogSize } from './reflog.ts'
import { objectsAt, WORK_REFS } from './shop.ts'

/** Looks, and keeps what was seen: the last sight of each working tree has a ref of its own. */
export async function snapshot(place: Place, keepAs?: string): Promise<Snapshot> {
  const { seen, tree } = await lookNow(place)
  const { head } = seen
  const parent = head === null ? [] : ['-p', head]
  const when = '@0 +0000'
  const env = { ...OURS, GIT_AUTHOR_DATE: when, GIT_COMMITTER_DATE: when }
  await healLock(place)
  const refs = [place.ref, keepAs === undefined ? place.ref : `${WORK_REFS}/${keepAs}`]
  const words = [...refs, tree, ...parent, '-m', 'oneshot: as it was seen last']
  const answer = await place.git.script(KEEP, words, { env })
  if (answer.code !== 0) throw new GitFailed('update-ref', answer)
  return { head, tree, reflog: reflogSize(place.repository.gitDir) }
}

const KEEP = `
ref=$1
kept=$2
shift 2
commit=$(git commit-tree "$@") || exit
{
  echo "update $ref $commit"
  [ "$ref" = "$kept" ] || echo "update $kept $commit"
} | git ${UPDATE_REF.join(' ')} --stdin
`

export interface Looking {
  readonly since: Snapshot
  readonly apart: readonly string[]
  readonly worker?: Worker | null | undefined
  readonly begunAt?: Instant | undefined
  readonly branch?: string | null | undefined
  /** Keeps what is seen from being collected as garbage. */
  readonly keepAs?: string | undefined
}

export async function evidence(place: Place, cwd: string, { since, apart, ...asked }: Looking): Promise<Sighting> {
  const { top, gitDir, nothing } = place.repository
  const isAside = asideOf(top, cwd, apart)
  const now = await snapshot(place, asked.keepAs)
  const head = now.head === null ? nothing.tree : `${now.head}^{tree}`
  const found = await linesSince(place, [since.tree, head, now.tree], `${since.head ?? nothing.tree}^{tree}`)
  const uncommitted = new Set(found.uncommitted)
  const from = path.relative(top, cwd)
  const all = found.lines
    .filter(line => !isAside(line.path))
    .map(
      (line): ChangedFile => ({
        ...line,
        name: path.relative(from, shown(line.path)),
        isCommitted: !uncommitted.has(line.path),
        isOwn: true,
      }),
    )
  const { changed, ...credit } = await creditOf(place, {
    since,
    now,
    changed: all,
    worker: asked.worker ?? null,
    begunAt: asked.begunAt ?? null,
    branch: asked.branch ?? null,
  })
  const own = changed.filter(({ isOwn }) => isOwn)
  const marked = await markedFiles(place, own)
  const unmerged = found.unmerged.map(shown)
  return {
    ...evidenceOf({ ...credit, now }, own),
    changed,
    loose: uncommitted,
    underWay: underWay(gitDir) ?? (unmerged.length > 0 ? UNMERGED : null),
    conflicts: [...new Set([...unmerged, ...marked])],
  }
}

/** What a `git stash pop` leaves behind, for one. */
const UNMERGED = 'a merge without its end'

type Line = Omit<ChangedFile, 'name' | 'isCommitted' | 'isOwn'>

interface Found {
  readonly lines: Line[]
  readonly unmerged: RawPath[]
  readonly uncommitted: RawPath[]
}

const COUNT = DIFF_TREES.filter(word => word !== '-t')

/** A user's index that cannot be read tells of no conflict. */
const COMPARE = `
git ${COUNT.join(' ')} "$1" "$3" || exit
printf 'then\\0'
[ "$4" = settled ] || (unset GIT_INDEX_FILE; git ls-files --unmerged -z 2>/dev/null)
printf 'then\\0'
git diff-tree -r -z --name-only --no-renames "$2" "$3"
`

/**
 * From the first of three trees to the third, and what of it is different from the second. What was seen long ago may be gone with
 * `git gc`; then `instead` must do.
 */
async function linesSince(place: Place, trees: readonly [string, string, string], instead: string): Promise<Found> {
  const { git } = place
  const index = indexMark(place)
  const words = [...trees, settled.get(place.repository.gitDir) === index ? 'settled' : 'look']
  const answer = await git.script(COMPARE, words, { index: NO_INDEX })
  if (answer.code !== 0) {
    const [first, other] = await objectsAt(git, [`${trees[0]}^{tree}`, instead])
    if (first !== null) throw new GitFailed('diff-tree', answer)
    if (!other) throw new Error('the commit from before is no longer in the repository')
    return linesSince(place, [other, trees[1], trees[2]], instead)
  }
  const found = readFound(answer.stdout)
  settled.set(place.repository.gitDir, found.unmerged.length === 0 ? index : '')
  return found
}

/** Indexes of users that were seen to have no conflict in them, by what tells each from a changed one. */
const settled = new Map<string, string>()

function indexMark({ repository }: Place): string {
  const stat = lstat(path.join(repository.gitDir, 'index'))
  return stat === undefined ? 'none' : `${stat.mtimeMs} ${stat.ctimeMs} ${stat.size} ${stat.ino}`
}

function readFound(stdout: Buffer): Found {
  const words = rawPath(stdout).split('\0').slice(0, -1)
  const first = endOf(words)
  const second = words.indexOf('then', first + 1)
  return {
    lines: readLines(words.slice(0, first)),
    unmerged: words.slice(first + 1, second).map(word => word.slice(word.indexOf('\t') + 1)),
    uncommitted: words.slice(second + 1),
  }
}

/** A file may have the name that parts the answers: it follows the word that tells of it. */
function endOf(words: readonly string[]): number {
  let at = 0
  while (words[at]?.startsWith(':')) at += 2
  return words.indexOf('then', at)
}

/** First `:MODE MODE HASH HASH LETTER` and a path for each, then `ADDED<tab>REMOVED<tab>PATH`, with dashes for what is no text. */
function readLines(words: readonly string[]): Line[] {
  const counts = new Map<RawPath, readonly [number, number]>()
  for (const word of words) {
    const [, added, removed, file] = /^(\d+|-)\t(\d+|-)\t([^]*)$/.exec(word) ?? []
    if (file !== undefined) counts.set(file, [Number(added) || 0, Number(removed) || 0])
  }
  const lines: Line[] = []
  for (let at = 0; words[at]?.startsWith(':'); at += 2) {
    const [mode, other, before, after] = (words[at] as string).slice(1).split(' ')
    const file = words[at + 1] as RawPath
    const [added, removed] = counts.get(file) ?? [0, 0]
    lines.push({
      path: file,
      before: mode === '000000' ? null : `${mode} ${before}`,
      after: other === '000000' ? null : `${other} ${after}`,
      added,
      removed,
    })
  }
  return lines
}
