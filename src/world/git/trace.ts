import type { Work } from '../../core/prove.ts'
import { below, type RawPath, shown, splitRaw } from '../../lib/raw-path.ts'
import { type Duration, type Instant, iso } from '../../lib/time.ts'
import { reasonIn } from '../../lib/trouble.ts'
import { Git, NO_INDEX } from './git.ts'
import { lstat } from './lstat.ts'
import { findMeans } from './means.ts'
import { atTop } from './memory.ts'
import { findRepository } from './repository.ts'

/** A state of the working tree: what HEAD was, and a commit or tree that holds all of its files. */
export interface State {
  readonly head: string | null
  readonly files: string
}

export interface Period {
  readonly since: Instant
  /** Null: until now. */
  readonly until: Instant | null
}

/** git would run another git in each of them, by that one's own configuration. */
const NO_SUBMODULES = '--ignore-submodules=dirty'
/** Reading a large repository from a slow disk takes a while. */
const PATIENCE: Duration = 120_000
/** So many are named; the others are counted. */
const NAMED = 12
/** Nobody counts further. */
const MOST_COMMITS = 10_000
/** Commits know whole seconds. */
const SECOND: Duration = 1_000
/** File systems take the time from a clock that lags behind by a tick or a few. */
const TICKS: Duration = 50

/** What git shows of the work between two states; a sentence where it shows nothing. Commits from before do not count. */
export function traceBetween(cwd: string, from: State, to: State, since: Instant): Promise<Work | string> {
  return tracing(cwd, async git => {
    const commits = to.head === null ? [] : await commitsIn(git, rangeOf(from.head, to.head), { since, until: null })
    const changed = await changesBetween(git, from.files, to.files)
    const loose = to.head === null ? changed : await changesBetween(git, to.head, to.files)
    const isChanged = new Set(changed.map(({ path }) => path))
    return workOf(commits, changed, loose.filter(({ path }) => isChanged.has(path)).length)
  })
}

/** The same where nothing but times tells what belongs to it: commits made, and files written, within the period. */
export function traceWithin(cwd: string, period: Period): Promise<Work | string> {
  return tracing(cwd, async (git, nothing) => {
    const head = (await git.ask(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])).stdout.toString().trim()
    const commits = head === '' ? [] : await commitsIn(git, head, period)
    const oldest = commits.at(-1)?.id
    const parent =
      oldest && (await git.ask(['rev-parse', '--verify', '--quiet', `${oldest}^1`])).stdout.toString().trim()
    const committed = oldest ? await changesBetween(git, parent || nothing, commits[0]?.id ?? head) : []
    const loose = (await looseFiles(git)).filter(({ path }) => isWrittenIn(git.cwd, path, period))
    const isLoose = new Set(loose.map(({ path }) => path))
    return workOf(commits, [...committed.filter(({ path }) => !isLoose.has(path)), ...loose], loose.length)
  })
}

async function tracing(cwd: string, work: (git: Git, nothing: string) => Promise<Work>): Promise<Work | string> {
  try {
    const git = new Git(await findMeans(process.env), cwd, AbortSignal.timeout(PATIENCE))
    const repository = await findRepository(git)
    return await work(atTop(git, repository), repository.nothing.tree)
  } catch (cause) {
    return reasonIn(cause)
  }
}

function rangeOf(from: string | null, to: string): string {
  return from === null ? to : `${from}..${to}`
}

type Commit = Work['commits'][number]

/** Newest first. Those that we made ourselves to save something are nobody's work. */
async function commitsIn(git: Git, range: string, { since, until }: Period): Promise<Commit[]> {
  const first = since - (since % SECOND)
  const when = [`--since=${iso(first)}`, ...(until === null ? [] : [`--until=${iso(until)}`])]
  const ours = ['--invert-grep', '--grep=^WIP: checkpoint [0-9]']
  const how = [`--max-count=${MOST_COMMITS}`, '--format=%H %s', ...when, ...ours]
  const said = (await git.run(['log', ...how, range, '--'])).toString()
  const lines = said.split('\n').filter(line => line !== '')
  return lines.map(line => ({ id: line.slice(0, line.indexOf(' ')), subject: line.slice(line.indexOf(' ') + 1) }))
}

interface ChangedFile {
  readonly path: RawPath
  readonly added: number
  readonly removed: number
}

async function changesBetween(git: Git, from: string, to: string): Promise<ChangedFile[]> {
  const how = ['-r', '-z', '--numstat', '--no-renames', '--no-ext-diff', '--no-textconv', NO_SUBMODULES]
  return numstat(await git.run(['diff-tree', ...how, from, to], { index: NO_INDEX }))
}

/** `ADDED<tab>REMOVED<tab>PATH`, with dashes for what is no text. */
function numstat(said: Buffer): ChangedFile[] {
  return splitRaw(said).flatMap(line => {
    const [, added, removed, path] = /^(\d+|-)\t(\d+|-)\t([\s\S]+)$/.exec(line) ?? []
    return path === undefined ? [] : [{ path, added: Number(added) || 0, removed: Number(removed) || 0 }]
  })
}

/** What is not committed. The lines of files that git does not know yet are not counted. */
async function looseFiles(git: Git): Promise<ChangedFile[]> {
  const status = await git.run([
    'status',
    '--porcelain=v1',
    '-z',
    '--untracked-files=all',
    '--no-renames',
    NO_SUBMODULES,
  ])
  const hasHead = (await git.ask(['rev-parse', '--verify', '--quiet', 'HEAD'])).code === 0
  const how = ['-z', '--numstat', '--no-renames', '--no-ext-diff', '--no-textconv', NO_SUBMODULES]
  const counted = hasHead ? numstat(await git.run(['diff', ...how, 'HEAD', '--'])) : []
  const known = new Map(counted.map(file => [file.path, file]))
  const paths = splitRaw(status).map(line => line.slice(3))
  return paths.map(path => known.get(path) ?? { path, added: 0, removed: 0 })
}

/** One that was removed has no time any more: nobody knows when it went. */
function isWrittenIn(top: string, path: RawPath, { since, until }: Period): boolean {
  const written = lstat(below(top, path))?.mtimeMs
  if (written === undefined || written < since - TICKS) return false
  return until === null || written <= until
}

function workOf(commits: readonly Commit[], changed: readonly ChangedFile[], uncommitted: number): Work {
  const sum = (of: (file: ChangedFile) => number): number => changed.reduce((total, file) => total + of(file), 0)
  return {
    commits: commits.slice(0, NAMED),
    commitCount: commits.length,
    change: { files: changed.length, added: sum(({ added }) => added), removed: sum(({ removed }) => removed) },
    files: changed.slice(0, NAMED).map(({ path }) => shown(path)),
    uncommitted,
  }
}
