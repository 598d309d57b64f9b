import type { ChangedFile, DroppedCommits, Snapshot, WorkEvidence } from '../../../../core/loop/work-evidence.ts'
import { type RawPath, rawPath, rawPathBytes } from '../../../../lib/text/raw-path.ts'
import { NO_INDEX } from '../../git.ts'
import type { Instant } from '../../../../lib/time.ts'
import type { WorkerTrace } from '../../../../ports/worktrees.ts'
import type { RepositoryContext } from '../../repository-context.ts'
import { readTree } from '../revisions/diff-trees.ts'
import { readLog } from '../inspect-checkout.ts'
import { tipsByFiles } from '../revisions/read-refs-from-files.ts'
import { findDroppedCommits } from './dropped-commits.ts'
import { type HeadMove, commitsMadeSince, workerMoves } from './reflog.ts'
import fs from 'node:fs'
import path from 'node:path'

interface Attribution extends Pick<WorkEvidence, 'commits' | 'commitCount' | 'foreign'> {
  readonly changed: readonly ChangedFile[]
  readonly dropped?: DroppedCommits
}

interface AttributionInput {
  readonly since: Snapshot
  readonly worker: WorkerTrace | null
  /** The start of the work: commits from before, which the worker only copied, are not its own. Null: unknown. */
  readonly begunAt: Instant | null
  /** The branch of the work; null for the user's current branch. */
  readonly branch: string | null
}

interface AttributionRequest extends AttributionInput {
  readonly now: Snapshot
  readonly changed: readonly ChangedFile[]
}

type LoggedCommit = Awaited<ReturnType<typeof readLog>>[number]

/** No iteration creates more commits; the log ends here. */
const MAX_COMMITS = 1_000

/**
 * Decides which changes the worker made. Commits that came from elsewhere by a merge or pull are not the worker's, nor
 * are commits that others made here. A file that equals its version in such a commit, or an earlier version on another
 * branch, is not the worker's either.
 */
export async function attributeWork(context: RepositoryContext, given: AttributionRequest): Promise<Attribution> {
  const credit = await attributeCommits(context, given)
  const { since, now, begunAt, branch } = given
  if (begunAt === null) return credit
  const known = [since.head, now.head].filter(head => head !== null)
  const taken = await findForeignFiles(context, { changed: credit.changed, known, own: branch, begunAt })
  if (taken.paths.size === 0) return credit
  return {
    ...credit,
    foreign: (credit.foreign ?? 0) + taken.commits.size,
    changed: credit.changed.map(file => (taken.paths.has(file.path) ? { ...file, isOwn: false } : file)),
  }
}

async function attributeCommits(context: RepositoryContext, given: AttributionRequest): Promise<Attribution> {
  const { since, now, changed } = given
  if (now.head === since.head) return { commits: [], commitCount: 0, changed }
  const range = [...(now.head === null ? [] : [now.head]), ...(since.head === null ? [] : [`^${since.head}`])]
  const all = now.head === null ? [] : await readLog(context, [`--max-count=${MAX_COMMITS}`, ...range, '--'])
  const lost = await findDroppedCommits(context, given, all)
  const dropped = lost === null ? {} : { dropped: lost }
  const own = ownCommits(context, all, given)
  const mine = own === null ? all : all.filter(({ id }) => own.has(id))
  const commits = mine.map(({ id, subject }) => ({ id, subject }))
  const isMerge = mine.some(({ parents }) => parents.length > 1)
  if (mine.length === all.length && !isMerge) return { commits, commitCount: commits.length, changed, ...dropped }
  const others = new Set(all.map(({ id }) => id).filter(id => own !== null && !own.has(id)))
  const brought = await readForeignContents(context, range, others)
  const isBrought = ({ path, after, isCommitted }: ChangedFile): boolean =>
    isCommitted && brought.get(path)?.has(after ?? '') === true
  return {
    commits,
    commitCount: commits.length,
    foreign: others.size,
    ...dropped,
    changed: changed.map(file => (isBrought(file) ? { ...file, isOwn: false } : file)),
  }
}

/** Returns the ids of the commits that the worker made here; null if unknown. */
function ownCommits(
  { repository }: RepositoryContext,
  all: readonly LoggedCommit[],
  given: AttributionInput,
): ReadonlySet<string> | null {
  const { since, worker, begunAt } = given
  const made = commitsMadeSince(repository.gitDir, since.reflog ?? 0)
  if (made === null) return null
  const authored = new Map(all.map(({ id, authoredAt }) => [id, authoredAt]))
  const isFresh = ({ to, message }: HeadMove): boolean =>
    begunAt === null || !COPIED_COMMIT.test(message) || (authored.get(to) ?? 0) >= begunAt / 1000 - 1
  const fresh = made.filter(isFresh)
  const own = worker === null ? fresh : workerMoves(fresh, worker, repository)
  return new Set(own.map(({ to }) => to))
}

/** Moves to a commit that copies another one with its author and date. */
const COPIED_COMMIT = /^(?:cherry-pick|am|rebase|pull|[^:]*\((?:pick|reword|fixup|squash|continue)\))/

/** Returns the contents that these commits left at each path, and those that merges took from their other sides. */
async function readForeignContents(
  context: RepositoryContext,
  range: readonly string[],
  others: ReadonlySet<string>,
): Promise<ReadonlyMap<RawPath, ReadonlySet<string>>> {
  const brought = new Map<RawPath, Set<string>>()
  const add = (file: RawPath, entry: string): void => {
    brought.set(file, (brought.get(file) ?? new Set()).add(entry))
  }
  const command = ['log', '--first-parent', '-m', '--raw', '-z', '--no-renames', '--abbrev=64', '--format=%x01%H %P']
  const output = rawPath(await context.git.run([...command, ...range, '--'], { index: NO_INDEX }))
  for (const text of output.split('\u0001').slice(1)) {
    const [head = '', ...words] = text.split('\0')
    const [id = '', ...parents] = head.trim().split(' ')
    const entries = parseRawLog(words)
    const isOther = others.has(id)
    const isMerge = !isOther && parents.length > 1
    const sides = isMerge ? await Promise.all(parents.slice(1).map(side => readTree(context, side))) : []
    for (const [file, entry] of entries)
      if (isOther || sides.some(side => (side.get(file) ?? '') === entry)) add(file, entry)
  }
  return brought
}

/** Files that came from another branch, and the commits that created them. */
export interface ForeignFiles {
  readonly paths: ReadonlySet<RawPath>
  readonly commits: ReadonlySet<string>
}

const NO_FOREIGN_FILES: ForeignFiles = { paths: new Set(), commits: new Set() }

const LOG_COMMAND = [
  'log',
  '-m',
  '--raw',
  '-z',
  '--no-renames',
  '--abbrev=64',
  '--source',
  '--ignore-missing',
  '--max-count=5000',
].concat('--format=%x01%H %ct %S')

/** Changed files and their possible origins. */
interface ForeignFilesQuery {
  readonly changed: readonly ChangedFile[]
  /** Commits whose history belongs to the work, or existed before. */
  readonly known: readonly string[]
  /** The branch of the work; null for the user's current branch. */
  readonly own: string | null
  readonly begunAt: Instant
}

/**
 * Finds files that equal their version in another branch's commit from before the work: through `git merge --squash`,
 * `git cherry-pick -n`, `git checkout BRANCH -- FILE` or a plain copy. The worker did not write such content. Runs git
 * only if an object is older than the work, and if some ref has commits other than the known ones.
 */
async function findForeignFiles(
  context: RepositoryContext,
  { changed, known, own, begunAt }: ForeignFilesQuery,
): Promise<ForeignFiles> {
  const old = changed.filter(file => isObjectOlder(context, file, begunAt))
  if (old.length === 0) return NO_FOREIGN_FILES
  const tips = tipsByFiles(context.repository.commonDir)
  if (tips !== null && [...tips].every(tip => known.includes(tip))) return NO_FOREIGN_FILES
  const after = new Map(old.map(file => [file.path, file.after]))
  const excluded = own === null ? [] : [`--exclude=${own}`, `--exclude=${own}-merge-*`]
  const refs = [...excluded, '--branches', '--remotes', '--tags', '--glob=refs/stas[h]', '--not', ...known]
  const args = ['--literal-pathspecs', ...LOG_COMMAND, ...refs, '--stdin']
  const input = rawPathBytes(['--', ...after.keys()].map(line => `${line}\n`).join(''))
  const result = await context.git.tryRun(args, { index: NO_INDEX, input })
  const [paths, commits] = [new Set<RawPath>(), new Set<string>()]
  for (const text of rawPath(result.stdout).split('\u0001').slice(1)) {
    const [head = '', ...rest] = text.split('\0')
    const [id = '', at, ref = ''] = head.trim().split(' ')
    // Other tasks of a loop run at the same time.
    const isOthers = Number(at) * 1000 < begunAt || ref.startsWith('refs/heads/oneshot/')
    const files = isOthers ? parseRawLog(rest).filter(([file, entry]) => after.get(file) === entry) : []
    for (const [file] of files) paths.add(file)
    if (files.length > 0) commits.add(id)
  }
  return { paths, commits }
}

/**
 * Returns true if git may have had this content before. A packed object has no age of its own, and some file systems
 * record none: both count as old.
 */
function isObjectOlder(
  { repository }: RepositoryContext,
  { path: name, after }: ChangedFile,
  begunAt: Instant,
): boolean {
  const hash = after?.split(' ')[1]
  if (hash === undefined || name.includes('\n')) return false
  const file = path.join(repository.commonDir, 'objects', hash.slice(0, 2), hash.slice(2))
  return (fs.statSync(file, { throwIfNoEntry: false })?.birthtimeMs ?? 0) < begunAt
}

/** Parses `git log --raw -z`: the `MODE HASH` of each path after a commit; empty for a deleted path. */
function parseRawLog(words: readonly string[]): [RawPath, string][] {
  const entries: [RawPath, string][] = []
  for (let at = 0; at + 1 < words.length; at++) {
    const fields = /^\n?:\d+ (\d+) \S+ (\S+) \S+$/.exec(words[at] as string)
    if (fields === null) continue
    entries.push([words[++at] as RawPath, fields[1] === '000000' ? '' : `${fields[1]} ${fields[2]}`])
  }
  return entries
}
