import path from 'node:path'
import type { Change } from '../../../core/checkpoint.ts'
import type { Evidence, Snapshot } from '../../../core/loop/evidence.ts'
import { type RawPath, rawPath, shown } from '../../../lib/raw-path.ts'
import { NO_INDEX } from '../git.ts'
import { GitFailed } from '../git-failed.ts'
import { OURS } from '../identity.ts'
import type { Place } from '../place.ts'
import { healLock, UPDATE_REF } from '../ref.ts'
import { DIFF_TREES } from '../save/delta.ts'
import { type IsAside, asideOf } from './aside.ts'
import { lookNow } from './look-now.ts'
import { objectsAt } from './shop.ts'

const A_DOZEN = 12

/** Looks, and keeps what was seen: the last sight of each working tree has a ref of its own. */
export async function snapshot(place: Place): Promise<Snapshot> {
  const { seen, tree } = await lookNow(place)
  const { head } = seen
  const parent = head === null ? [] : ['-p', head]
  const when = '@0 +0000'
  const env = { ...OURS, GIT_AUTHOR_DATE: when, GIT_COMMITTER_DATE: when }
  await healLock(place)
  const answer = await place.git.script(KEEP, [place.ref, tree, ...parent, '-m', 'oneshot: as it was seen last'], {
    env,
  })
  if (answer.code !== 0) throw new GitFailed('update-ref', answer)
  return { head, tree }
}

const KEEP = `
ref=$1
shift
commit=$(git commit-tree "$@") || exit
git ${UPDATE_REF.join(' ')} "$ref" "$commit"
`

export async function evidence(
  place: Place,
  cwd: string,
  since: Snapshot,
  apart: readonly string[],
): Promise<Evidence> {
  const isAside = asideOf(place.repository.top, cwd, apart)
  const nothing = place.repository.nothing.tree
  const before = await firstOf(place, [since.tree, `${since.head ?? nothing}^{tree}`])
  const now = await snapshot(place)
  const head = now.head === null ? nothing : `${now.head}^{tree}`
  const [changed, open] = await linesSince(place, [before, head], { to: now.tree, isAside })
  const uncommitted = new Set(open.map(line => line.path))
  const from = path.relative(place.repository.top, cwd)
  return {
    ...(await commitsSince(place, since.head, now.head)),
    change: sum(changed),
    files: changed.slice(0, A_DOZEN).map(line => path.relative(from, shown(line.path))),
    uncommitted: changed.filter(line => uncommitted.has(line.path)).length,
    now,
  }
}

/** What was seen long ago may be gone with `git gc`; then HEAD of that time must do. */
async function firstOf({ git }: Place, trees: readonly string[]): Promise<string> {
  const found = await objectsAt(
    git,
    trees.map(tree => `${tree}^{tree}`),
  )
  const first = found.find(tree => tree !== null)
  if (first) return first
  throw new Error('what was there before is not in the repository any more')
}

interface Line {
  readonly path: RawPath
  readonly added: number
  readonly removed: number
}

const COUNT = DIFF_TREES.filter(word => word !== '--raw' && word !== '-t')

const COUNT_TWICE = `
git ${COUNT.join(' ')} "$1" "$3" || exit
printf 'then\\0'
git ${COUNT.join(' ')} "$2" "$3"
`

/** From each of two trees to a third. */
async function linesSince(
  { git }: Place,
  [one, two]: readonly [string, string],
  { to, isAside }: { to: string; isAside: IsAside },
): Promise<[Line[], Line[]]> {
  const answer = await git.script(COUNT_TWICE, [one, two, to], { index: NO_INDEX })
  if (answer.code !== 0) throw new GitFailed('diff-tree', answer)
  const words = rawPath(answer.stdout).split('\0')
  const middle = words.indexOf('then')
  return [readLines(words.slice(0, middle), isAside), readLines(words.slice(middle + 1), isAside)]
}

/** `ADDED<tab>REMOVED<tab>PATH`, with dashes for what is no text. */
function readLines(words: readonly string[], isAside: IsAside): Line[] {
  return words.flatMap(word => {
    const [, added, removed, file] = /^(\d+|-)\t(\d+|-)\t([^]*)$/.exec(word) ?? []
    if (file === undefined || isAside(file)) return []
    return [{ path: file, added: Number(added) || 0, removed: Number(removed) || 0 }]
  })
}

function sum(lines: readonly Line[]): Change {
  return {
    files: lines.length,
    added: lines.reduce((all, { added }) => all + added, 0),
    removed: lines.reduce((all, { removed }) => all + removed, 0),
  }
}

/** Where history was rewritten: those that the old one does not have. */
async function commitsSince(
  { git }: Place,
  since: string | null,
  head: string | null,
): Promise<Pick<Evidence, 'commits' | 'commitCount'>> {
  if (head === null || head === since) return { commits: [], commitCount: 0 }
  const range = [head, ...(since === null ? [] : [`^${since}`]), '--']
  const commits = await logOf({ git }, [`--max-count=${A_DOZEN}`, ...range])
  const isAll = commits.length < A_DOZEN
  return { commits, commitCount: isAll ? commits.length : Number(await git.line(['rev-list', '--count', ...range])) }
}

export async function logOf(
  { git }: Pick<Place, 'git'>,
  words: readonly string[],
): Promise<{ id: string; subject: string }[]> {
  const said = (await git.run(['log', '-z', '--no-color', '--format=%H %s', ...words])).toString()
  return said
    .split('\0')
    .filter(line => line !== '')
    .map(line => ({ id: line.slice(0, line.indexOf(' ')), subject: line.slice(line.indexOf(' ') + 1) }))
}
