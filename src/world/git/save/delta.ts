import type { Change } from '../../../core/checkpoint.ts'
import { type RawPath, rawPath } from '../../../lib/raw-path.ts'
import { NO_INDEX } from '../git.ts'
import type { Place } from '../place.ts'

/** What one tree has that another has not. */
export interface Delta {
  readonly change: Change
  /** Trees and files of the second one that the first one does not have at the same place. */
  readonly objects: readonly string[]
}

/** Above this size lines are not counted: a text of this length is nobody's work of a few minutes. */
const LARGEST_TEXT = '10m'

/** Compares two trees that are named after it. */
export const DIFF_TREES = [
  '-c',
  `core.bigFileThreshold=${LARGEST_TEXT}`,
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

export async function deltaOf({ git }: Place, from: string, to: string): Promise<Delta> {
  return readDelta(to, await git.run([...DIFF_TREES, from, to], { index: NO_INDEX }))
}

export function readDelta(to: string, said: Buffer): Delta {
  return { objects: [to, ...objectsIn(said)], change: changeIn(said) }
}

/** What stands in `--numstat -z`: `ADDED<tab>REMOVED<tab>PATH`, with dashes for what is no text. */
function changeIn(said: Buffer): Change {
  const lines = rawPath(said)
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

/** What stands in `--raw -z`: `:MODE MODE HASH HASH LETTER`, then the path. A commit of another repository is not ours. */
function objectsIn(said: Buffer): string[] {
  const words: RawPath[] = rawPath(said).split('\0')
  const objects: string[] = []
  for (let at = 0; words[at]?.startsWith(':'); at += 2) {
    const [, mode, , hash, letter] = (words[at] as string).split(' ')
    if (letter !== 'D' && mode !== '160000' && hash !== undefined) objects.push(hash)
  }
  return [...new Set(objects)]
}
