import type { Git } from './git.ts'
import type { Link } from './link.ts'
import { readMessage } from './message.ts'

/** A commit as git keeps it. */
export interface RawCommit {
  readonly commit: string
  readonly tree: string
  readonly parents: readonly string[]
  /** Lines as they stand in it: `author NAME <ADDRESS> SECONDS ZONE`. */
  readonly people: readonly string[]
  readonly message: Buffer
}

/** Each of them, in their order; null for one that is not there. */
export async function readCommits(git: Git, commits: readonly string[]): Promise<(RawCommit | null)[]> {
  if (commits.length === 0) return []
  const said = await git.run(['cat-file', '--batch'], { input: commits.map(commit => `${commit}\n`).join('') })
  const found: (RawCommit | null)[] = []
  for (let at = 0; at < said.length; ) {
    const begin = said.indexOf('\n', at) + 1
    const [commit = '', type, size] = said.subarray(at, begin).toString().trim().split(' ')
    const end = begin + Number(size)
    found.push(type === 'commit' ? parse(commit, said.subarray(begin, end)) : null)
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
