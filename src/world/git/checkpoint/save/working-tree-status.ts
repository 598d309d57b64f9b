import { type RawPath, rawPath } from '../../../../lib/text/raw-path.ts'
import type { Git } from '../../git.ts'

/** git's status of one path: the index against HEAD, and the working tree against the index. */
export interface Difference {
  readonly path: RawPath
  /** git's letter: D if HEAD has it and the index does not, A for the opposite, a dot for no difference. */
  readonly staged: string
  /** git's letter: ? for untracked, D for deleted, a dot for unchanged. */
  readonly working: string
  readonly isUnmerged: boolean
  /** True for another repository, or a gitlink in the index. */
  readonly isRepository: boolean
  /** The entries in HEAD and in the index as `MODE HASH`; zeros mean no entry, null means that git does not say. */
  readonly inHead: string | null
  readonly inIndex: string | null
}

export interface WorkingTreeStatus {
  readonly head: string | null
  readonly differences: readonly Difference[]
  /** Folders that git could not open, one sentence each. */
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
  // To detect changes inside a submodule, git would run a status that writes that repository's index.
  '--ignore-submodules=dirty',
] as const

/** Compares the working tree with the private index, and refreshes the index. */
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

/** An exclude rule keeps our session files out of git; a new repository may lack it. */
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

/** The number of fields before the path. */
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
