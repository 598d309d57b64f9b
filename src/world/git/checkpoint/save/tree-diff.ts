import type { DiffStat } from '../../../../core/checkpoint/checkpoint.ts'
import { type RawPath, rawPath } from '../../../../lib/text/raw-path.ts'
import { NO_INDEX } from '../../git.ts'
import type { RepositoryContext } from '../../repository-context.ts'

/** The difference between two trees. */
export interface TreeDiff {
  readonly change: DiffStat
  /** Trees and blobs of the second tree that the first one does not have at the same path. */
  readonly objects: readonly string[]
}

/** git counts no lines in larger files: nobody writes such a text in a few minutes. */
const MAX_TEXT_SIZE = '10m'

/** Compares the two trees that follow. */
export const DIFF_TREES = [
  '-c',
  `core.bigFileThreshold=${MAX_TEXT_SIZE}`,
  'diff-tree',
  '-r',
  '-t',
  '-z',
  '--raw',
  '--numstat',
  '--abbrev=64',
  '--no-renames',
  '--no-ext-diff',
  '--no-textconv',
  '--ignore-submodules=none',
] as const

export async function diffTrees({ git }: RepositoryContext, from: string, to: string): Promise<TreeDiff> {
  return parseTreeDiff(to, await git.run([...DIFF_TREES, from, to], { index: NO_INDEX }))
}

export function parseTreeDiff(to: string, output: Buffer): TreeDiff {
  return { objects: [to, ...parseObjects(output)], change: parseChange(output) }
}

/** Parses `--numstat -z`: `ADDED<tab>REMOVED<tab>PATH`, with dashes for a binary file. */
function parseChange(output: Buffer): DiffStat {
  const lines = rawPath(output)
    .split('\0')
    .flatMap(line => /^(\d+|-)\t(\d+|-)\t/.exec(line) ?? [])
  let [files, added, removed] = [0, 0, 0]
  for (let at = 0; at < lines.length; at += 3) {
    files++
    added += Number(lines[at + 1]) || 0
    removed += Number(lines[at + 2]) || 0
  }
  return { files, added, removed }
}

/**
 * Parses `--raw -z`: `:MODE MODE HASH HASH LETTER`, then the path. Skips gitlinks, whose commits belong to other
 * repositories.
 */
function parseObjects(output: Buffer): string[] {
  const words: RawPath[] = rawPath(output).split('\0')
  const objects: string[] = []
  for (let at = 0; words[at]?.startsWith(':'); at += 2) {
    const [, mode, , hash, letter] = (words[at] as string).split(' ')
    if (letter !== 'D' && mode !== '160000' && hash !== undefined) objects.push(hash)
  }
  return [...new Set(objects)]
}
