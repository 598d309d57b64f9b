import type { Checkpoint } from '../../../core/checkpoint/checkpoint.ts'
import { isObjectId, type ObjectId, objectId } from '../../../core/checkpoint/object-id.ts'
import { type CheckpointTrailers, MAX_COMMIT_SIZE, parseMessage } from './commit-message.ts'
import type { Git } from '../git.ts'

/** A checkpoint in git: one commit of a chain; a ref points to the newest. */
export interface CheckpointCommit {
  readonly commit: ObjectId
  readonly tree: string
  readonly trailers: CheckpointTrailers
}

export function toCheckpoint({ commit, trailers }: CheckpointCommit): Checkpoint {
  const { number, at, trigger, attempt, head, change, leftOut } = trailers
  return { number, commit, at, trigger, attempt, head, change, leftOut }
}

/** A commit as git stores it. */
export interface RawCommit {
  readonly commit: ObjectId
  readonly tree: string
  readonly parents: readonly ObjectId[]
  /** Verbatim lines: `author NAME <ADDRESS> SECONDS ZONE`. */
  readonly authorLines: readonly string[]
  readonly message: Buffer
}

/** Bytes of one batch: parsing it blocks the event loop. */
const MAX_BATCH_SIZE = 4 * 1024 * 1024
/** Bytes of all commits that one query reads. Five hundred of our commits have far fewer. */
const MAX_TOTAL_SIZE = 64 * 1024 * 1024

/**
 * Returns the commits in the given order. Returns null for a missing commit and for a commit larger than any of ours,
 * which it does not read. It also returns null for the last commits of a list that exceeds the memory limit.
 */
export function readCommits(git: Git, commits: readonly string[]): Promise<(RawCommit | null)[]> {
  return readCommitsAs(git, commits, commit => commit)
}

/** Does the same as `readCommits` and applies a parser to each commit. */
export async function readCommitsAs<T>(
  git: Git,
  commits: readonly string[],
  understand: (raw: RawCommit) => T,
): Promise<(T | null)[]> {
  const found = new Map<string, T>()
  for (const batch of splitBatches(await readSizes(git, commits))) {
    for (const raw of await readBatch(git, batch)) found.set(raw.commit, understand(raw))
  }
  return commits.map(commit => found.get(commit) ?? null)
}

interface CommitSize {
  readonly commit: ObjectId
  readonly size: number
}

/** Returns the objects that exist, are commits and are small enough to read. */
async function readSizes(git: Git, commits: readonly string[]): Promise<CommitSize[]> {
  if (commits.length === 0) return []
  const output = await git.run(['cat-file', '--batch-check'], { input: commits.map(commit => `${commit}\n`).join('') })
  return output
    .toString()
    .split('\n')
    .flatMap(line => {
      const [commit = '', type, size] = line.split(' ')
      return isObjectId(commit) && type === 'commit' && Number(size) <= MAX_COMMIT_SIZE
        ? [{ commit, size: Number(size) }]
        : []
    })
}

function splitBatches(all: readonly CommitSize[]): CommitSize[][] {
  const batches: CommitSize[][] = []
  let room = 0
  let roomInAll = MAX_TOTAL_SIZE
  for (const one of all) {
    roomInAll -= one.size
    if (roomInAll < 0) break
    if (room < one.size) {
      batches.push([])
      room = MAX_BATCH_SIZE
    }
    room -= one.size
    batches.at(-1)?.push(one)
  }
  return batches
}

async function readBatch(git: Git, batch: readonly CommitSize[]): Promise<RawCommit[]> {
  const output = await git.run(['cat-file', '--batch'], { input: batch.map(({ commit }) => `${commit}\n`).join('') })
  const found: RawCommit[] = []
  for (let at = 0; at < output.length; ) {
    const begin = output.indexOf('\n', at) + 1
    const [commit = '', type, size] = output.subarray(at, begin).toString().trim().split(' ')
    const end = begin + Number(size)
    if (type === 'commit') found.push(parseCommit(objectId(commit), output.subarray(begin, end)))
    at = type === 'missing' ? begin : end + 1
  }
  return found
}

function parseCommit(commit: ObjectId, raw: Buffer): RawCommit {
  const end = raw.indexOf('\n\n')
  const headers = raw.subarray(0, end).toString('latin1').split('\n')
  const all = (key: string): string[] =>
    headers.filter(line => line.startsWith(`${key} `)).map(line => line.slice(key.length + 1))
  const people = headers.filter(line => /^(author|committer) /.test(line))
  return {
    commit,
    tree: all('tree')[0] ?? '',
    parents: all('parent').filter(isObjectId),
    authorLines: people,
    message: raw.subarray(end + 2),
  }
}

/** Returns null if the commit is not a checkpoint. */
export function parseCheckpoint({ commit, tree, message }: RawCommit): CheckpointCommit | null {
  const trailers = parseMessage(message.toString())
  return trailers === null ? null : { commit, tree, trailers }
}

/**
 * Returns the HEAD of that time, which is the last parent. A tool that rewrites history changes the parents but not the
 * message.
 */
export function checkpointHead(raw: RawCommit): ObjectId | null {
  return parseCheckpoint(raw)?.trailers.head === null ? null : (raw.parents.at(-1) ?? null)
}
