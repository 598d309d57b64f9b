import type { Git } from './git.ts'
import type { Link } from './link.ts'
import { LARGEST_COMMIT, readMessage } from './message.ts'

/** A commit as git keeps it. */
export interface RawCommit {
  readonly commit: string
  readonly tree: string
  readonly parents: readonly string[]
  /** Lines as they stand in it: `author NAME <ADDRESS> SECONDS ZONE`. */
  readonly people: readonly string[]
  readonly message: Buffer
}

/** Bytes of all commits that are read at once: nobody else's turn comes before they are understood. */
const MOST_AT_ONCE = 4 * 1024 * 1024
/** Bytes of all commits that are read for one question. Five hundred of ours have far fewer. */
const MOST_IN_ALL = 64 * 1024 * 1024

/**
 * Each of them, in their order; null for one that is not there, or larger than any of ours: that one is not read. Neither are
 * the last ones of more than could be kept in memory.
 */
export function readCommits(git: Git, commits: readonly string[]): Promise<(RawCommit | null)[]> {
  return readEach(git, commits, commit => commit)
}

/** The same, of what each is understood to be. */
export async function readEach<T>(
  git: Git,
  commits: readonly string[],
  understand: (raw: RawCommit) => T,
): Promise<(T | null)[]> {
  const found = new Map<string, T>()
  for (const batch of batchesOf(await sizesOf(git, commits))) {
    for (const raw of await readBatch(git, batch)) found.set(raw.commit, understand(raw))
  }
  return commits.map(commit => found.get(commit) ?? null)
}

interface Sized {
  readonly commit: string
  readonly size: number
}

/** Those that are there, are commits and may be read. */
async function sizesOf(git: Git, commits: readonly string[]): Promise<Sized[]> {
  if (commits.length === 0) return []
  const said = await git.run(['cat-file', '--batch-check'], { input: commits.map(commit => `${commit}\n`).join('') })
  return said
    .toString()
    .split('\n')
    .flatMap(line => {
      const [commit = '', type, size] = line.split(' ')
      return type === 'commit' && Number(size) <= LARGEST_COMMIT ? [{ commit, size: Number(size) }] : []
    })
}

function batchesOf(all: readonly Sized[]): Sized[][] {
  const batches: Sized[][] = []
  let room = 0
  let roomInAll = MOST_IN_ALL
  for (const one of all) {
    roomInAll -= one.size
    if (roomInAll < 0) break
    if (room < one.size) {
      batches.push([])
      room = MOST_AT_ONCE
    }
    room -= one.size
    batches.at(-1)?.push(one)
  }
  return batches
}

async function readBatch(git: Git, batch: readonly Sized[]): Promise<RawCommit[]> {
  const said = await git.run(['cat-file', '--batch'], { input: batch.map(({ commit }) => `${commit}\n`).join('') })
  const found: RawCommit[] = []
  for (let at = 0; at < said.length; ) {
    const begin = said.indexOf('\n', at) + 1
    const [commit = '', type, size] = said.subarray(at, begin).toString().trim().split(' ')
    const end = begin + Number(size)
    if (type === 'commit') found.push(parse(commit, said.subarray(begin, end)))
    at = type === 'missing' ? begin : end + 1
  }
  return found
}

function parse(commit: string, raw: Buffer): RawCommit {
  const end = raw.indexOf('\n\n')
  const headers = raw.subarray(0, end).toString('latin1').split('\n')
  const all = (key: string): string[] =>
    headers.filter(line => line.startsWith(`${key} `)).map(line => line.slice(key.length + 1))
  const people = headers.filter(line => /^(author|committer) /.test(line))
  return { commit, tree: all('tree')[0] ?? '', parents: all('parent'), people, message: raw.subarray(end + 2) }
}

/** Null when it is no checkpoint. */
export function linkIn({ commit, tree, message }: RawCommit): Link | null {
  const telling = readMessage(message.toString())
  return telling === null ? null : { commit, tree, telling }
}

/** What HEAD was then, which is the last parent. What the message says of it is not changed by those who rewrite history. */
export function headIn(raw: RawCommit): string | null {
  return linkIn(raw)?.telling.head === null ? null : (raw.parents.at(-1) ?? null)
}
