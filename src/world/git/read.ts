import type { Checkpoint } from '../../core/checkpoint.ts'
import { foldersOf, type RawPath } from '../../lib/raw-path.ts'
import { Trouble } from '../../lib/trouble.ts'
import type { Found } from '../../ports/checkpoints.ts'
import { chainOf } from './chain.ts'
import type { Git } from './git.ts'
import { GitFailed } from './git-failed.ts'
import { checkpointOf, type Link } from './link.ts'
import { type Nested, readRecord, type Telling } from './message.ts'
import { nestedPlace, nestedRef, ownerOf, type Place, REFS, suffixOf } from './place.ts'
import { isSubmodule, isWorktreeOf } from './save/nested.ts'
import { isTreePath } from './tree-path.ts'
import { linkIn, type RawCommit, readCommits, readEach } from './read-commits.ts'

/** What was written down with a checkpoint. */
export async function readRecordOf({ git }: Place, commit: string): Promise<string> {
  const [raw] = await readCommits(git, [commit])
  if (!raw) throw new GitFailed('cat-file', { code: 1, stderr: `the checkpoint ${commit} cannot be read` })
  return readRecord(raw.message.toString())
}

/** Those of the repository that git runs in, and what has kept them. */
export async function findKept(git: Git, name: string | undefined): Promise<Found[]> {
  const found: Found[] = []
  for (const [ref, link] of await tipsIn(git, name === undefined ? REFS : `${REFS}/${name}`)) {
    const { telling, record } = link
    const owner = ownerOf(ref)
    if (owner === null || owner.suffix !== '') continue
    const { name: whole, sessionId } = owner
    const { claim } = telling
    const last = checkpointOf(link)
    found.push({ name: whole, sessionId, last, record, ...(claim !== undefined && { claim }) })
  }
  return found.sort((one, other) => other.last.at - one.last.at)
}

interface Tip extends Link {
  /** What was written down with it. */
  readonly record: string
}

/** What the refs below this one lead to, as far as it is there and a checkpoint. */
async function tipsIn(git: Git, refs: string): Promise<Map<string, Tip>> {
  const said = await git.run(['for-each-ref', '--format=%(objectname) %(refname)', refs])
  const lines = said.toString().split('\n').slice(0, -1)
  const commits = lines.map(line => line.slice(0, line.indexOf(' ')))
  const found = await readEach(git, commits, tipIn)
  const tips = new Map<string, Tip>()
  for (const [at, line] of lines.entries()) {
    const tip = found[at] ?? null
    const ref = line.slice(line.indexOf(' ') + 1)
    if (tip !== null && isTipOf(ref, tip.telling)) tips.set(ref, tip)
  }
  return tips
}

function tipIn(raw: RawCommit): Tip | null {
  const link = linkIn(raw)
  return link === null ? null : { ...link, record: readRecord(raw.message.toString()) }
}

/** Whether a ref is called what one that leads to this checkpoint is called. */
export function isTipOf(ref: string, { sessionId, path }: Telling): boolean {
  const owner = ownerOf(ref)
  return owner?.sessionId === sessionId && owner.suffix === (path === '' ? '' : suffixOf(path))
}

/** A checkpoint, maybe of another session. One that thinning has given another commit, and whose own is gone, by its number. */
export async function linkOf(place: Place, { number, commit }: Checkpoint): Promise<Link> {
  const { code } = await place.git.ask(['cat-file', '-e', `${commit}^{commit}`])
  const numbered = code === 0 ? undefined : (await chainOf(place)).find(({ telling }) => telling.number === number)
  return numbered ?? linkAt(place, commit)
}

export async function linkAt({ git }: Place, commit: string): Promise<Link> {
  const [raw] = await readCommits(git, [commit])
  const link = raw ? linkIn(raw) : null
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

/**
 * Null when its repository is not there any more, does not have that state, or is none that git may run in. The checkpoint may come
 * from a remote, so what it says of a repository does not count: that must be one which a checkpoint made here would save.
 */
export async function nestedState(outer: Place, nested: Nested): Promise<NestedState | null> {
  if (nested.isNoted) return null
  const place = await enterNested(outer, relativeTo(outer, nested.path)).catch(() => null) // Nothing of it can be had.
  return place === null ? null : stateIn(place, nested)
}

/** Also where it lies in a repository that lies in this one. */
async function enterNested(outer: Place, path: RawPath): Promise<Place | null> {
  if (!isTreePath(path)) return null
  if (outer.nested === true) return nestedPlace(outer, path)
  for (const prefix of [...foldersOf(path), path]) {
    if (!isWorktreeOf(outer, prefix) && !(await isSubmodule(outer, prefix))) continue
    const place = await nestedPlace(outer, prefix)
    return place === null || prefix === path ? place : enterNested(place, path.slice(prefix.length + 1))
  }
  return null
}

/** The same of a worktree that shared its repository with the outer one, and is gone: its checkpoints are still there. */
export async function sharedState(outer: Place, nested: Nested): Promise<NestedState | null> {
  return nested.isNoted ? null : stateIn({ ...outer, ref: nestedRef(outer, nested.path), path: nested.path }, nested)
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
