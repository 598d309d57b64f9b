import type { Checkpoint } from '../../../core/checkpoint/checkpoint.ts'
import { type CheckpointTrailers, MAX_COMMIT_SIZE, parseMessage } from './commit-message.ts'
import type { Git } from '../git.ts'

/** A checkpoint as it lies in git: one of a chain, whose newest end a ref points to. */
export interface CheckpointCommit {
  readonly commit: string
  readonly tree: string
  readonly trailers: CheckpointTrailers
}

export function toCheckpoint({ commit, trailers }: CheckpointCommit): Checkpoint {
  const { number, at, trigger, attempt, head, change, leftOut } = trailers
  return { number, commit, at, trigger, attempt, head, change, leftOut }
}

/** A commit as git keeps it. */
export interface RawCommit {
  readonly commit: string
  readonly tree: string
  readonly parents: readonly string[]
  /** Lines as they stand in it: `author NAME <ADDRESS> SECONDS ZONE`. */
  readonly authorLines: readonly string[]
  readonly message: Buffer
}

/** Bytes of all commits that are read at once: nobody else's turn comes before they are understood. */
const MAX_BATCH_SIZE = 4 * 1024 * 1024
/** Bytes of all commits that are read for one question. Five hundred of ours have far fewer. */
const MAX_TOTAL_SIZE = 64 * 1024 * 1024

/**
 * Each of them, in their order; null for one that is not there, or larger than any of ours: that one is not read. Neither are
 * the last ones of more than could be kept in memory.
 */
export function readCommits(git: Git, commits: readonly string[]): Promise<(RawCommit | null)[]> {
  return readCommitsAs(git, commits, commit => commit)
}

/** The same, of what each is understood to be. */
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
  readonly commit: string
  readonly size: number
}

/** Those that are there, are commits and may be read. */
async function readSizes(git: Git, commits: readonly string[]): Promise<CommitSize[]> {
  if (commits.length === 0) return []
  const output = await git.run(['cat-file', '--batch-check'], { input: commits.map(commit => `${commit}\n`).join('') })
  return output
    .toString()
    .split('\n')
    .flatMap(line => {
      const [commit = '', type, size] = line.split(' ')
      return type === 'commit' && Number(size) <= MAX_COMMIT_SIZE ? [{ commit, size: Number(size) }] : []
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
    if (type === 'commit') found.push(parseCommit(commit, output.subarray(begin, end)))
    at = type === 'missing' ? begin : end + 1
  }
  return found
}

function parseCommit(commit: string, raw: Buffer): RawCommit {
  const end = raw.indexOf('\n\n')
  const headers = raw.subarray(0, end).toString('latin1').split('\n')
  const all = (key: string): string[] =>
    headers.filter(line => line.startsWith(`${key} `)).map(line => line.slice(key.length + 1))
  const people = headers.filter(line => /^(author|committer) /.test(line))
  return {
    commit,
    tree: all('tree')[0] ?? '',
    parents: all('parent'),
    authorLines: people,
    message: raw.subarray(end + 2),
  }
}

/** Null when it is no checkpoint. */
export function parseCheckpoint({ commit, tree, message }: RawCommit): CheckpointCommit | null {
  const trailers = parseMessage(message.toString())
  return trailers === null ? null : { commit, tree, trailers }
}

/** What HEAD was then, which is the last parent. What the message says of it is not changed by those who rewrite history. */
export function checkpointHead(raw: RawCommit): string | null {
  return parseCheckpoint(raw)?.trailers.head === null ? null : (raw.parents.at(-1) ?? null)
}
