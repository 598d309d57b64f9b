import type { SessionWork } from '../../core/policy/verify.ts'
import { joinBelow, type RawPath, displayPath, splitRawPaths } from '../../lib/text/raw-path.ts'
import { type Duration, type Instant, formatIso } from '../../lib/time.ts'
import { rootReason } from '../../lib/errors.ts'
import { Git, NO_INDEX } from './git.ts'
import { lstat } from '../../os/files/lstat-if-exists.ts'
import { findGit } from './git-settings.ts'
import { gitAtTop } from './repository-context.ts'
import { findRepository } from './repository.ts'

/** A state of the working tree: HEAD, and a commit or tree with all files. */
export interface WorkingState {
  readonly head: string | null
  readonly files: string
}

export interface Period {
  readonly since: Instant
  /** Null: until now. */
  readonly until: Instant | null
}

/** git would run another git in each submodule, with that repository's own configuration. */
const NO_SUBMODULES = '--ignore-submodules=dirty'
/** Reading a large repository from a slow disk takes some time. */
const TIMEOUT: Duration = 120_000
/** The number of named items; the summary only counts the others. */
const MAX_NAMED = 12
/** The limit for counting. */
const MAX_COMMITS = 10_000
/** Commits store whole seconds. */
const SECOND: Duration = 1_000
/** The clock of a file system lags a few ticks behind. */
const CLOCK_LAG: Duration = 50

/** Returns the work between two states, or a sentence if git fails. Earlier commits do not count. */
export function workBetween(
  cwd: string,
  from: WorkingState,
  to: WorkingState,
  since: Instant,
): Promise<SessionWork | string> {
  return withRepository(cwd, async git => {
    const commits =
      to.head === null ? [] : await listCommits(git, commitRange(from.head, to.head), { since, until: null })
    const changed = await diffFiles(git, from.files, to.files)
    const loose = to.head === null ? changed : await diffFiles(git, to.head, to.files)
    const isChanged = new Set(changed.map(({ path }) => path))
    return summarizeWork(commits, changed, loose.filter(({ path }) => isChanged.has(path)).length)
  })
}

/** Does the same by times only: counts commits and files with a time in the period. */
export function workWithin(cwd: string, period: Period): Promise<SessionWork | string> {
  return withRepository(cwd, async (git, nothing) => {
    const head = (await git.tryRun(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])).stdout.toString().trim()
    const commits = head === '' ? [] : await listCommits(git, head, period)
    const oldest = commits.at(-1)?.id
    const parent =
      oldest && (await git.tryRun(['rev-parse', '--verify', '--quiet', `${oldest}^1`])).stdout.toString().trim()
    const committed = oldest ? await diffFiles(git, parent || nothing, commits[0]?.id ?? head) : []
    const loose = (await uncommittedFiles(git)).filter(({ path }) => wasWrittenIn(git.cwd, path, period))
    const isLoose = new Set(loose.map(({ path }) => path))
    return summarizeWork(commits, [...committed.filter(({ path }) => !isLoose.has(path)), ...loose], loose.length)
  })
}

async function withRepository(
  cwd: string,
  work: (git: Git, nothing: string) => Promise<SessionWork>,
): Promise<SessionWork | string> {
  try {
    const git = new Git(await findGit(process.env), cwd, AbortSignal.timeout(TIMEOUT))
    const repository = await findRepository(git)
    return await work(gitAtTop(git, repository), repository.emptyIds.tree)
  } catch (cause) {
    return rootReason(cause)
  }
}

function commitRange(from: string | null, to: string): string {
  return from === null ? to : `${from}..${to}`
}

type Commit = SessionWork['commits'][number]

/** Returns commits, newest first. Our own checkpoint commits do not count as work. */
async function listCommits(git: Git, range: string, { since, until }: Period): Promise<Commit[]> {
  const first = since - (since % SECOND)
  const when = [`--since=${formatIso(first)}`, ...(until === null ? [] : [`--until=${formatIso(until)}`])]
  const ours = ['--invert-grep', '--grep=^WIP: checkpoint [0-9]']
  const how = [`--max-count=${MAX_COMMITS}`, '--format=%H %s', ...when, ...ours]
  const output = (await git.run(['log', ...how, range, '--'])).toString()
  const lines = output.split('\n').filter(line => line !== '')
  return lines.map(line => ({ id: line.slice(0, line.indexOf(' ')), subject: line.slice(line.indexOf(' ') + 1) }))
}

interface ChangedFile {
  readonly path: RawPath
  readonly added: number
  readonly removed: number
}

async function diffFiles(git: Git, from: string, to: string): Promise<ChangedFile[]> {
  const how = ['-r', '-z', '--numstat', '--no-renames', '--no-ext-diff', '--no-textconv', NO_SUBMODULES]
  return parseNumstat(await git.run(['diff-tree', ...how, from, to], { index: NO_INDEX }))
}

/** Parses `ADDED<tab>REMOVED<tab>PATH`, with dashes for a binary file. */
function parseNumstat(output: Buffer): ChangedFile[] {
  return splitRawPaths(output).flatMap(line => {
    const [, added, removed, path] = /^(\d+|-)\t(\d+|-)\t([\s\S]+)$/.exec(line) ?? []
    return path === undefined ? [] : [{ path, added: Number(added) || 0, removed: Number(removed) || 0 }]
  })
}

/** Returns uncommitted files. Does not count the lines of untracked files. */
async function uncommittedFiles(git: Git): Promise<ChangedFile[]> {
  const status = await git.run([
    'status',
    '--porcelain=v1',
    '-z',
    '--untracked-files=all',
    '--no-renames',
    NO_SUBMODULES,
  ])
  const hasHead = (await git.tryRun(['rev-parse', '--verify', '--quiet', 'HEAD'])).code === 0
  const how = ['-z', '--numstat', '--no-renames', '--no-ext-diff', '--no-textconv', NO_SUBMODULES]
  const counted = hasHead ? parseNumstat(await git.run(['diff', ...how, 'HEAD', '--'])) : []
  const known = new Map(counted.map(file => [file.path, file]))
  const paths = splitRawPaths(status).map(line => line.slice(3))
  return paths.map(path => known.get(path) ?? { path, added: 0, removed: 0 })
}

/** A removed file has no time: we cannot know when it was removed. */
function wasWrittenIn(top: string, path: RawPath, { since, until }: Period): boolean {
  const written = lstat(joinBelow(top, path))?.mtimeMs
  if (written === undefined || written < since - CLOCK_LAG) return false
  return until === null || written <= until
}

function summarizeWork(commits: readonly Commit[], changed: readonly ChangedFile[], uncommitted: number): SessionWork {
  const sum = (of: (file: ChangedFile) => number): number => changed.reduce((total, file) => total + of(file), 0)
  return {
    commits: commits.slice(0, MAX_NAMED),
    commitCount: commits.length,
    change: { files: changed.length, added: sum(({ added }) => added), removed: sum(({ removed }) => removed) },
    files: changed.slice(0, MAX_NAMED).map(({ path }) => displayPath(path)),
    uncommitted,
  }
}
