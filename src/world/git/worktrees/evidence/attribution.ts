import type { ChangedFile, Snapshot, WorkEvidence } from '../../../../core/loop/evidence.ts'
import { type RawPath, rawPath, rawPathBytes } from '../../../../lib/text/raw-path.ts'
import { NO_INDEX } from '../../git.ts'
import type { Instant } from '../../../../lib/time.ts'
import type { WorkerTrace } from '../../../../ports/worktrees.ts'
import type { RepositoryContext } from '../../repository-context.ts'
import { readTree } from '../trees.ts'
import { readLog, tipsByFiles } from '../checkout.ts'
import { type HeadMove, commitsMadeSince, workerMoves } from './reflog.ts'
import fs from 'node:fs'
import path from 'node:path'

interface Attribution extends Pick<WorkEvidence, 'commits' | 'commitCount' | 'foreign'> {
  readonly changed: readonly ChangedFile[]
}

interface AttributionInput {
  readonly since: Snapshot
  readonly worker: WorkerTrace | null
  /** When the work was begun: commits that were written before, and only repeated here, are not its own. Null: nobody knows. */
  readonly begunAt: Instant | null
  /** The branch of the work; null for the one that the user has checked out. */
  readonly branch: string | null
}

interface AttributionRequest extends AttributionInput {
  readonly now: Snapshot
  readonly changed: readonly ChangedFile[]
}

type LoggedCommit = Awaited<ReturnType<typeof readLog>>[number]

/** Nobody makes more in one iteration; beyond it commits are only counted. */
const MAX_COMMITS = 1_000

/**
 * What of all that is different whoever worked here has done. Commits that came from elsewhere, by a merge or a pull, are not its
 * own, nor are those that others made here. A file that is now as such a commit has left it, or as another branch had it before, is not
 * its work either.
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
  if (now.head === null || now.head === since.head) return { commits: [], commitCount: 0, changed }
  const range = [now.head, ...(since.head === null ? [] : [`^${since.head}`])]
  const all = await readLog(context, [`--max-count=${MAX_COMMITS}`, ...range, '--'])
  const own = ownCommits(context, all, given)
  const mine = own === null ? all : all.filter(({ id }) => own.has(id))
  const commits = mine.map(({ id, subject }) => ({ id, subject }))
  const isMerge = mine.some(({ parents }) => parents.length > 1)
  if (mine.length === all.length && !isMerge) return { commits, commitCount: commits.length, changed }
  const others = new Set(all.map(({ id }) => id).filter(id => own !== null && !own.has(id)))
  const brought = await readForeignContents(context, range, others)
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

/** Moves to a commit that repeats another one, with the author and the date of that. */
const COPIED_COMMIT = /^(?:cherry-pick|am|rebase|pull|[^:]*\((?:pick|reword|fixup|squash|continue)\))/

/** What these commits have left at each path; and what merges took over from their other sides. */
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

/** Files that came from another branch, and the commits that made them. */
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

/** Files that are different now, and where they may have come from. */
interface ForeignFilesQuery {
  readonly changed: readonly ChangedFile[]
  /** Commits whose history is the work's own, or was there already. */
  readonly known: readonly string[]
  /** The branch of the work; null for the one that the user has checked out. */
  readonly own: string | null
  readonly begunAt: Instant
}

/**
 * Finds files that are as a commit of another branch made them before the work began: by `git merge --squash`, `git cherry-pick -n`,
 * `git checkout BRANCH -- FILE` or a plain copy. Such content is not the work of whoever took it. Git is asked only where an object is
 * older than the work, and where some ref holds other commits than the known ones.
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
    // Other tasks of a loop are worked on at the same time.
    const isOthers = Number(at) * 1000 < begunAt || ref.startsWith('refs/heads/oneshot/')
    const files = isOthers ? parseRawLog(rest).filter(([file, entry]) => after.get(file) === entry) : []
    for (const [file] of files) paths.add(file)
    if (files.length > 0) commits.add(id)
  }
  return { paths, commits }
}

/** Whether git had this content before. A packed object tells nothing of its age, nor do some file systems: both may be old. */
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

/** `MODE HASH` of each path after a commit, as `git log --raw -z` tells them; empty for what is gone. */
function parseRawLog(words: readonly string[]): [RawPath, string][] {
  const entries: [RawPath, string][] = []
  for (let at = 0; at + 1 < words.length; at++) {
    const fields = /^\n?:\d+ (\d+) \S+ (\S+) \S+$/.exec(words[at] as string)
    if (fields === null) continue
    entries.push([words[++at] as RawPath, fields[1] === '000000' ? '' : `${fields[1]} ${fields[2]}`])
  }
  return entries
}
