import fs from 'node:fs'
import path from 'node:path'
import { formatBytes } from '../../lib/bytes.ts'
import { Trouble } from '../../lib/trouble.ts'
import type { Fetched, Remote, SessionRef } from '../../ports/checkpoints.ts'
import type { Answer, Git } from './git.ts'
import { gitFolderAt } from './guard/git-folder.ts'
import { lstat } from './lstat.ts'
import { ownerOf, REFS } from './place.ts'
import { goalSuffix, isGoal } from './goal.ts'
import { isTipOf } from './read.ts'
import { linkIn, readCommits } from './read-commits.ts'
import { UPDATE_REF } from './ref.ts'
import { addressAt } from './remote-url.ts'
import { ALIAS, type Channel, named, refsOn, speak } from './speak.ts'

/** Bytes of one fetch. Checkpoints share nearly all that they hold with the repository. */
const MOST_BYTES = 8 * 1024 ** 3
/** Bytes; files are limited by these. */
const BLOCK = 512
/** Refs that are fetched at once. */
const MOST_REFS = 1_000
/** Refs that are tried one by one when all together cannot be had. */
const MOST_TRIES = 50

/** Configured by the user, git would remove refs that the remote does not have, and touch others that it does have. */
const FETCH = [
  'fetch',
  '--no-progress',
  '--no-tags',
  '--no-prune',
  '--refmap=',
  '--no-write-fetch-head',
  '--no-recurse-submodules',
  '--quiet',
] as const

/**
 * Brings the refs of some sessions from a remote. What is here stays, unless the remote has gone on from there. One ref that
 * is not what it should be harms no other.
 */
export async function fetch(
  git: Git,
  given: Remote & { choose: (all: readonly SessionRef[]) => readonly SessionRef[]; most?: number | undefined },
): Promise<Fetched> {
  const { remote, env, choose, most } = given
  const channel = { remote, env, url: addressAt(git.cwd, remote) }
  const doing = `fetching from ${named(remote)}`
  const all = [...(await refsOn(git, channel, { patterns: [`${REFS}/*`], doing }))].flatMap(([ref, commit]) => {
    const owner = ownerOf(ref)
    return owner === null ? [] : [{ ref, commit, ...owner }]
  })
  const chosen = new Set(choose(all).map(({ name, sessionId }) => `${name}/${sessionId}`))
  const wanted = all.filter(({ name, sessionId }) => chosen.has(`${name}/${sessionId}`)).slice(0, MOST_REFS)
  if (wanted.length === 0) return { taken: [], diverged: [] }
  const refs = wanted.map(({ ref }) => ref)
  await bring(git, channel, refs, { doing, most })
  return take(git, wanted)
}

interface Fetching {
  readonly doing: string
  /** Words before those that name the remote. */
  readonly options?: readonly string[]
  /** Bytes; the usual limit where absent. */
  readonly most?: number | undefined
}

/** Has git fetch, and fail when a remote sends more than there is room for: then nothing of it stays. */
export async function fetchInto(git: Git, channel: Channel, refs: readonly string[], how: Fetching): Promise<void> {
  const { bavail, bsize } = fs.statfsSync(git.cwd)
  const most = Math.min(how.most ?? MOST_BYTES, (bavail * bsize) / 2)
  const largestFile = most - (most % BLOCK)
  try {
    await speak(git, channel, how.doing, [...FETCH, ...(how.options ?? []), '--', ALIAS, ...refs], { largestFile })
  } catch (cause) {
    if (!removeUnfinished(git.cwd, largestFile)) throw cause
    throw new Trouble(how.doing, `it sends more than ${formatBytes(largestFile)}`, { mayHelpToRetry: false })
  }
}

/** git leaves what it has received so far. Nobody else's is as long as ours may be to the byte. */
function removeUnfinished(top: string, size: number): boolean {
  const folder = path.join(gitFolderAt(top)?.shared ?? '', 'objects', 'pack')
  const names = fs.existsSync(folder) ? fs.readdirSync(folder) : []
  const files = names.filter(name => /^tmp_(pack|idx)_/.test(name)).map(name => path.join(folder, name))
  const ours = files.filter(file => lstat(file)?.size === size)
  for (const file of ours) fs.rmSync(file, { force: true })
  return ours.length > 0
}

/** All at once or, where one of them cannot be had, each for itself. */
async function bring(git: Git, channel: Channel, refs: readonly string[], how: Fetching): Promise<void> {
  try {
    await fetchInto(git, channel, refs, how)
  } catch (cause) {
    if (!(cause instanceof Trouble) || refs.length === 1) throw cause
    let isAnyThere = false
    for (const ref of refs.slice(0, MOST_TRIES)) {
      const isThere = fetchInto(git, channel, [ref], how).then(
        () => true,
        () => false,
      )
      isAnyThere = (await isThere) || isAnyThere
    }
    if (!isAnyThere) throw cause
  }
}

interface Wanted extends SessionRef {
  readonly ref: string
  readonly commit: string
  readonly suffix: string
}

async function take(git: Git, wanted: readonly Wanted[]): Promise<Fetched> {
  const raw = await readCommits(
    git,
    wanted.map(({ commit }) => commit),
  )
  const here = await localRefs(git)
  const fetched: { taken: Fetched['taken'][number][]; diverged: SessionRef[] } = { taken: [], diverged: [] }
  for (const [at, { ref, commit, name, sessionId, suffix }] of wanted.entries()) {
    const found = raw[at]
    const link = found ? linkIn(found) : null
    const isOurs = suffix === goalSuffix ? found && isGoal(found, sessionId) : link && isTipOf(ref, link.telling)
    const before = here.get(ref) ?? null
    if (!isOurs || before === commit) continue
    if (before !== null && (await isAncestor(git, commit, before))) continue
    const isAhead = before === null || (await isAncestor(git, before, commit))
    // A ref that is called like a folder of others, or that somebody else moves at this moment, is left as it is.
    const { code } = isAhead ? await moveTo(git, ref, commit, before) : { code: 1 }
    if (code === 0) fetched.taken.push({ ref, commit, before })
    else if (suffix === '') fetched.diverged.push({ name, sessionId })
  }
  return fetched
}

/** Undoes a fetch, as far as nobody has gone on from it. */
export async function putBack(git: Git, { taken }: Fetched): Promise<void> {
  for (const { ref, commit, before } of taken) {
    if (before === null) await git.ask([...UPDATE_REF, '-d', ref, commit])
    else await git.ask([...UPDATE_REF, ref, before, commit])
  }
}

function moveTo(git: Git, ref: string, commit: string, before: string | null): Promise<Answer> {
  return git.ask([...UPDATE_REF, ref, commit, before ?? '0'.repeat(commit.length)])
}

async function localRefs(git: Git): Promise<Map<string, string>> {
  const said = await git.run(['for-each-ref', '--format=%(objectname) %(refname)', REFS])
  const lines = said.toString().split('\n').slice(0, -1)
  return new Map(lines.map(line => [line.slice(line.indexOf(' ') + 1), line.slice(0, line.indexOf(' '))]))
}

export async function isAncestor(git: Git, one: string, other: string): Promise<boolean> {
  return (await git.ask(['merge-base', '--is-ancestor', one, other])).code === 0
}
