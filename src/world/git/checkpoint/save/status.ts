import { type RawPath, rawPath } from '../../../../lib/text/raw-path.ts'
import type { Git } from '../../git.ts'

/** What git tells of one path: how the index differs from HEAD, and the working tree from the index. */
export interface Difference {
  readonly path: RawPath
  /** Of git's letters: D for what HEAD has and the index does not, A for the other way round, a dot for neither. */
  readonly staged: string
  /** ? for what the index does not know, D for what is gone, a dot for what is the same. */
  readonly working: string
  readonly isUnmerged: boolean
  /** Another repository, or what the index takes for one. */
  readonly isRepository: boolean
  /** What HEAD and the index have there, as `MODE HASH`, nothing being made of zeros; null where git does not tell. */
  readonly inHead: string | null
  readonly inIndex: string | null
}

export interface WorkingTreeStatus {
  readonly head: string | null
  readonly differences: readonly Difference[]
  /** What git could not look into, each as a sentence of its own. */
  readonly warnings: readonly string[]
}

const STATUS_COMMAND = [
  'status',
  '--porcelain=v2',
  '-z',
  '--untracked-files=all',
  '--no-renames',
  '--branch',
  '--no-ahead-behind',
  // Whether there is work in it, git would find out by a status that writes that repository's index.
  '--ignore-submodules=dirty',
] as const

/** Compares the working tree with the private index, which knows the files better afterwards. */
export async function readStatus(git: Git, index: string): Promise<WorkingTreeStatus> {
  const { stdout, stderr } = await git.runForResult(STATUS_COMMAND, { index, env: { GIT_OPTIONAL_LOCKS: '1' } })
  const lines = rawPath(stdout).split('\0').slice(0, -1)
  const oid = lines.find(line => line.startsWith('# branch.oid '))?.slice('# branch.oid '.length) ?? '(initial)'
  return {
    head: oid === '(initial)' ? null : oid,
    differences: lines
      .filter(line => !line.startsWith('#'))
      .map(parseLine)
      .filter(difference => !isAgentFile(difference)),
    warnings: parseWarnings(stderr),
  }
}

/** What we write about sessions is kept out of git by a rule, which a repository may lack that was just made. */
const AGENT_FOLDER = /(?:^|\/)\.agent\//

function isAgentFile({ path, working }: Difference): boolean {
  return working === '?' && AGENT_FOLDER.test(path)
}

function parseWarnings(stderr: string): string[] {
  return stderr.split('\n').flatMap(line => /^warning: (could not open directory .*)$/.exec(line)?.[1] ?? [])
}

function untrackedFile(path: RawPath): Difference {
  const isRepository = path.endsWith('/')
  const name = isRepository ? path.slice(0, -1) : path
  return { path: name, staged: '.', working: '?', isUnmerged: false, isRepository, inHead: null, inIndex: null }
}

/** How many words stand before the path. */
const FIELD_COUNTS: Readonly<Record<string, number>> = { '1': 8, u: 10, '?': 1 }

function parseLine(line: string): Difference {
  const kind = line.charAt(0)
  let at = 0
  for (let word = FIELD_COUNTS[kind] ?? 0; word > 0; word--) at = line.indexOf(' ', at) + 1
  const path = line.slice(at)
  const words = line.slice(0, at).split(' ')
  if (kind === '?') return untrackedFile(path)
  return {
    path,
    staged: line.charAt(2),
    working: line.charAt(3),
    isUnmerged: kind === 'u',
    isRepository: line.charAt(5) === 'S',
    inHead: kind === '1' ? `${words[3]} ${words[6]}` : null,
    inIndex: kind === '1' ? `${words[4]} ${words[7]}` : null,
  }
}
