import type { Checkpoint } from '../../core/checkpoint.ts'
import type { RawPath } from '../../lib/raw-path.ts'
import { Trouble } from '../../lib/trouble.ts'
import type { Found } from '../../ports/checkpoints.ts'
import { chainOf } from './chain.ts'
import type { Git } from './git.ts'
import { checkpointOf, type Link, readLink } from './link.ts'
import { type Nested, readRecord } from './message.ts'
import { isNestedRef, nestedPlace, nestedRef, type Place, REFS } from './place.ts'
import { linkIn, readCommits } from './read-commits.ts'

/** What was written down with a checkpoint. */
export async function readRecordOf({ git }: Place, commit: string): Promise<string> {
  const raw = (await git.run(['cat-file', 'commit', commit])).toString()
  return readRecord(raw.slice(raw.indexOf('\n\n') + 2))
}

/** Those of the repository that git runs in, and what has kept them. */
export async function findKept(git: Git, name: string | undefined): Promise<Found[]> {
  const found: Found[] = []
  for (const [ref, link] of await tipsIn(git, name === undefined ? REFS : `${REFS}/${name}`)) {
    if (isNestedRef(ref)) continue
    const { telling, record } = link
    found.push({ name: ref.split('/')[2] ?? '', sessionId: telling.sessionId, last: checkpointOf(link), record })
  }
  return found.sort((one, other) => other.last.at - one.last.at)
}

interface Tip extends Link {
  /** What was written down with it. */
  readonly record: string
}

/** What the refs below this one lead to, as far as it is there and a checkpoint. */
export async function tipsIn(git: Git, refs: string): Promise<Map<string, Tip>> {
  const said = await git.run(['for-each-ref', '--format=%(objectname) %(refname)', refs])
  const lines = said.toString().split('\n').slice(0, -1)
  const raw = await readCommits(
    git,
    lines.map(line => line.slice(0, line.indexOf(' '))),
  )
  const tips = new Map<string, Tip>()
  for (const [at, line] of lines.entries()) {
    const commit = raw[at]
    const link = commit ? linkIn(commit) : null
    if (!commit || link === null) continue
    tips.set(line.slice(line.indexOf(' ') + 1), { ...link, record: readRecord(commit.message.toString()) })
  }
  return tips
}

/** A checkpoint, maybe of another session. One that thinning has given another commit, and whose own is gone, by its number. */
export async function linkOf(place: Place, { number, commit }: Checkpoint): Promise<Link> {
  const { code } = await place.git.ask(['cat-file', '-e', `${commit}^{commit}`])
  const numbered = code === 0 ? undefined : (await chainOf(place)).find(({ telling }) => telling.number === number)
  return numbered ?? linkAt(place, commit)
}

export async function linkAt({ git }: Place, commit: string): Promise<Link> {
  const said = await git.run(['log', '-1', '--format=%H%x00%T%x00%B', commit, '--'])
  const link = readLink(said.toString())
  if (link === null) throw new Trouble(`reading ${commit}`, 'it is not a checkpoint', { mayHelpToRetry: false })
  return link
}

/** What lies in a repository that is nested in this one, and was in the state that a checkpoint tells of. */
export interface NestedState {
  readonly place: Place
  readonly commit: string
  readonly tree: string
  readonly head: string | null
}

/** Null when its repository is not there any more, or does not have that state. */
export async function nestedState(outer: Place, nested: Nested): Promise<NestedState | null> {
  const place = await nestedPlace(outer, relativeTo(outer, nested.path)).catch(() => null) // Nothing of it can be had.
  return place === null ? null : stateIn(place, nested)
}

/** The same of a worktree that shared its repository with the outer one, and is gone: its checkpoints are still there. */
export function sharedState(outer: Place, nested: Nested): Promise<NestedState | null> {
  return stateIn({ ...outer, ref: nestedRef(outer, nested.path), path: nested.path }, nested)
}

async function stateIn(place: Place, { state }: Nested): Promise<NestedState | null> {
  if (typeof state === 'number') {
    const link = (await chainOf(place)).find(({ telling }) => telling.number === state)
    return link === undefined ? null : { place, commit: link.commit, tree: link.tree, head: link.telling.head }
  }
  const tree = await place.git.ask(['rev-parse', '--verify', '--quiet', `${state}^{tree}`])
  return tree.code === 0 ? { place, commit: state, tree: tree.stdout.toString().trim(), head: state } : null
}

function relativeTo(outer: Place, path: RawPath): RawPath {
  return outer.path === '' ? path : path.slice(outer.path.length + 1)
}
