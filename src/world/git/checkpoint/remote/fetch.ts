import fs from 'node:fs'
import path from 'node:path'
import { formatBytes } from '../../../../lib/bytes.ts'
import type { Duration } from '../../../../lib/time.ts'
import { Trouble } from '../../../../lib/errors.ts'
import type { FetchResult, Remote, SessionRef } from '../../../../ports/checkpoints.ts'
import type { Git, GitResult } from '../../git.ts'
import { findGitFolder } from '../../guard/find-and-check-git-folder.ts'
import { removeStateFolder } from '../../remove-state-folder.ts'
import { lstat } from '../../../../os/files/lstat-if-exists.ts'
import { CHECKPOINT_REFS, type RepositoryContext, parseRef } from '../../repository-context.ts'
import { goalSuffix, isGoalCommit } from '../messages-ref.ts'
import { isRefOf } from '../history.ts'
import { type RawCommit, parseCheckpoint, readCommits } from '../read-commits.ts'
import { UPDATE_REF } from '../../update-ref.ts'
import { fetchUrl } from './remote-url.ts'
import { REMOTE_PLACEHOLDER, type RemoteConnection, displayName, listRemoteRefs, runOnRemote } from './connection.ts'

/** Bytes of one fetch. Checkpoints share nearly all their objects with the repository. */
const MAX_FETCH_SIZE = 8 * 1024 ** 3
/** Bytes; the unit of the file size limit (ulimit). */
const BLOCK_SIZE = 512
/** A user waits for the list of refs, and a remote that works sends it within seconds. */
const LIST_TIMEOUT: Duration = 20_000
/** The number of refs that one fetch requests. */
const MAX_REFS = 1_000
/** The number of refs that we fetch one by one after a fetch of all refs failed. */
const MAX_SINGLE_FETCHES = 50

/** These options override user settings that would let git prune refs or update others. */
const FETCH_COMMAND = [
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
 * Fetches the refs of some sessions from a remote. A local ref only moves forward. One invalid ref does not affect the
 * others.
 */
export async function fetchSessions(
  git: Git,
  given: Remote & {
    choose: (all: readonly SessionRef[]) => readonly SessionRef[]
    most?: number | undefined
    listTimeout?: Duration | undefined
  },
): Promise<FetchResult> {
  const { remote, env, choose, most, listTimeout = LIST_TIMEOUT } = given
  const connection = { remote, env, url: fetchUrl(git.cwd, remote) }
  const doing = `fetching from ${displayName(remote)}`
  const all = [
    ...(await listRemoteRefs(git, connection, { patterns: [`${CHECKPOINT_REFS}/*`], doing, timeout: listTimeout })),
  ].flatMap(([ref, commit]) => {
    const owner = parseRef(ref)
    return owner === null ? [] : [{ ref, commit, ...owner }]
  })
  const chosen = new Set(choose(all).map(({ name, sessionId }) => `${name}/${sessionId}`))
  const wanted = all.filter(({ name, sessionId }) => chosen.has(`${name}/${sessionId}`)).slice(0, MAX_REFS)
  if (wanted.length === 0) return { taken: [], diverged: [], unreadable: [] }
  const refs = wanted.map(({ ref }) => ref)
  await fetchAllOrEach(git, connection, refs, { doing, maxSize: most })
  return updateLocalRefs(git, wanted)
}

interface FetchOptions {
  readonly doing: string
  /** Options before the name of the remote. */
  readonly options?: readonly string[]
  /** Bytes; `MAX_FETCH_SIZE` if absent. */
  readonly maxSize?: number | undefined
}

/** Runs git fetch with a size limit. If the remote sends more, the fetch fails and leaves nothing behind. */
async function fetchRefs(
  git: Git,
  connection: RemoteConnection,
  refs: readonly string[],
  how: FetchOptions,
): Promise<void> {
  const { bavail, bsize } = fs.statfsSync(git.cwd)
  const most = Math.min(how.maxSize ?? MAX_FETCH_SIZE, (bavail * bsize) / 2)
  const largestFile = most - (most % BLOCK_SIZE)
  try {
    await runOnRemote(
      git,
      connection,
      how.doing,
      [...FETCH_COMMAND, ...(how.options ?? []), '--', REMOTE_PLACEHOLDER, ...refs],
      { largestFile },
    )
  } catch (cause) {
    if (!removePartialPacks(git.cwd, largestFile)) throw cause
    throw new Trouble(how.doing, `it sends more than ${formatBytes(largestFile)}`, { mayHelpToRetry: false })
  }
}

/** git keeps a partial pack after a failed fetch. Only our own file has exactly the size of our limit. */
function removePartialPacks(top: string, size: number): boolean {
  const folder = path.join(findGitFolder(top)?.shared ?? '', 'objects', 'pack')
  const names = fs.existsSync(folder) ? fs.readdirSync(folder) : []
  const files = names.filter(name => /^tmp_(pack|idx)_/.test(name)).map(name => path.join(folder, name))
  const ours = files.filter(file => lstat(file)?.size === size)
  for (const file of ours) fs.rmSync(file, { force: true })
  return ours.length > 0
}

/** Fetches all refs at once or, if that fails, each ref separately. */
async function fetchAllOrEach(
  git: Git,
  connection: RemoteConnection,
  refs: readonly string[],
  how: FetchOptions,
): Promise<void> {
  try {
    await fetchRefs(git, connection, refs, how)
  } catch (cause) {
    if (!(cause instanceof Trouble) || refs.length === 1) throw cause
    let isAnyThere = false
    for (const ref of refs.slice(0, MAX_SINGLE_FETCHES)) {
      const isThere = fetchRefs(git, connection, [ref], how).then(
        () => true,
        () => false,
      )
      isAnyThere = (await isThere) || isAnyThere
    }
    if (!isAnyThere) throw cause
  }
}

interface RemoteRef extends SessionRef {
  readonly ref: string
  readonly commit: string
  readonly suffix: string
}

async function updateLocalRefs(git: Git, wanted: readonly RemoteRef[]): Promise<FetchResult> {
  const raw = await readCommits(
    git,
    wanted.map(({ commit }) => commit),
  )
  const here = await readLocalRefs(git)
  const fetched = {
    taken: [] as FetchResult['taken'][number][],
    diverged: [] as SessionRef[],
    unreadable: [] as SessionRef[],
  }
  for (const [at, { ref, commit, name, sessionId, suffix }] of wanted.entries()) {
    const found = raw[at]
    const checkpoint = found ? parseCheckpoint(found) : null
    const isOurs =
      suffix === goalSuffix ? found && isGoalCommit(found, sessionId) : checkpoint && isRefOf(ref, checkpoint.trailers)
    const before = here.get(ref) ?? null
    if (!isOurs && suffix === '') fetched.unreadable.push({ name, sessionId })
    if (!isOurs || before === commit) continue
    if (before !== null && (await isAncestor(git, commit, before))) continue
    const isAhead = before === null || (await isAncestor(git, before, commit))
    // We leave a ref alone if it has the name of a folder of refs, or if another process is moving it.
    const { code } = isAhead ? await tryUpdateRef(git, ref, commit, before) : { code: 1 }
    if (code === 0) fetched.taken.push({ ref, commit, before })
    else if (suffix === '') fetched.diverged.push({ name, sessionId })
  }
  return fetched
}

/** Undoes a fetch, except for refs that have moved since. */
export async function undoFetch(git: Git, { taken }: FetchResult): Promise<void> {
  for (const { ref, commit, before } of taken) {
    if (before === null) await git.tryRun([...UPDATE_REF, '-d', ref, commit])
    else await git.tryRun([...UPDATE_REF, ref, before, commit])
  }
}

function tryUpdateRef(git: Git, ref: string, commit: string, before: string | null): Promise<GitResult> {
  return git.tryRun([...UPDATE_REF, ref, commit, before ?? '0'.repeat(commit.length)])
}

async function readLocalRefs(git: Git): Promise<Map<string, string>> {
  const output = await git.run(['for-each-ref', '--format=%(objectname) %(refname)', CHECKPOINT_REFS])
  const lines = output.toString().split('\n').slice(0, -1)
  return new Map(lines.map(line => [line.slice(line.indexOf(' ') + 1), line.slice(0, line.indexOf(' '))]))
}

export async function isAncestor(git: Git, one: string, other: string): Promise<boolean> {
  return (await git.tryRun(['merge-base', '--is-ancestor', one, other])).code === 0
}

/** The name of a fetched ref in a temporary repository. */
const FETCHED_REF = 'refs/there'

/**
 * Returns the commit of a remote ref, or null if there is none or if it is larger than any of ours. Fetches it into a
 * temporary repository, so that a stranger's objects never enter the user's repository.
 */
export async function readRemoteCommit(
  context: RepositoryContext,
  connection: RemoteConnection,
  ref: string,
): Promise<RawCommit | null> {
  fs.mkdirSync(context.folder, { recursive: true, mode: 0o700 })
  const folder = fs.mkdtempSync(path.join(context.folder, 'read-'))
  const git = context.git.withCwd(folder)
  try {
    const format = context.repository.emptyIds.commit.length === 64 ? ['--object-format=sha256'] : []
    await git.run(['init', '--quiet', '--template=', ...format, '.'])
    // A remote that supports filters sends no files.
    const options = ['--depth=1', '--filter=tree:0']
    await fetchRefs(git, connection, [`${ref}:${FETCHED_REF}`], {
      doing: `reading ${displayName(connection.remote)}`,
      options,
    })
    return await readFetchedCommit(git)
  } finally {
    removeStateFolder(folder)
  }
}

async function readFetchedCommit(git: Git): Promise<RawCommit | null> {
  const commit = (await git.tryRun(['rev-parse', '--verify', '--quiet', FETCHED_REF])).stdout.toString().trim()
  const [raw] = commit === '' ? [] : await readCommits(git, [commit])
  return raw ?? null
}
