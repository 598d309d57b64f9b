import type { DiffStat } from '../../../../core/checkpoint/checkpoint.ts'
import type { FileChange } from '../../../../core/loop/work-evidence.ts'
import { type RawPath, rawPath } from '../../../../lib/text/raw-path.ts'
import { type Git, NO_INDEX } from '../../git.ts'

/** The difference between two trees. */
export interface TreeDiff {
  readonly change: DiffStat
  /** Trees and blobs of the second tree that the first one does not have at the same path. */
  readonly objects: readonly string[]
  /** Each changed file; null where a changed entry is another repository, or a folder in the place of a file. */
  readonly files: readonly FileDiff[] | null
}

/** A changed file, and how many lines were added to it and removed from it. */
export interface FileDiff extends FileChange {
  readonly added: number
  readonly removed: number
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

export async function diffTrees({ git }: { readonly git: Git }, from: string, to: string): Promise<TreeDiff> {
  return parseTreeDiff(to, await git.run([...DIFF_TREES, from, to], { index: NO_INDEX }))
}

export function parseTreeDiff(to: string, output: Buffer): TreeDiff {
  const files = parseFileDiffs(rawPath(output).split('\0').slice(0, -1)).filter(file => !isFolder(file))
  const isPlain = files.every(({ before, after }) => [before, after].every(isFileEntry))
  return { objects: [to, ...parseObjects(output)], change: parseChange(output), files: isPlain ? files : null }
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

/** `:MODE MODE HASH HASH LETTER` and a path for each entry, then `ADDED<tab>REMOVED<tab>PATH`, with dashes for what is no text. */
export function parseFileDiffs(words: readonly string[]): FileDiff[] {
  const counts = new Map<RawPath, readonly [number, number]>()
  for (const word of words) {
    const [, added, removed, file] = /^(\d+|-)\t(\d+|-)\t([^]*)$/.exec(word) ?? []
    if (file !== undefined) counts.set(file, [Number(added) || 0, Number(removed) || 0])
  }
  const files: FileDiff[] = []
  for (let at = 0; words[at]?.startsWith(':'); at += 2) {
    const [mode, other, before, after] = (words[at] as string).slice(1).split(' ')
    const file = words[at + 1] as RawPath
    const [added, removed] = counts.get(file) ?? [0, 0]
    files.push({
      path: file,
      before: mode === '000000' ? null : `${mode} ${before}`,
      after: other === '000000' ? null : `${other} ${after}`,
      added,
      removed,
    })
  }
  return files
}

const FOLDER_MODE = '040000 '
const REPOSITORY_MODE = '160000 '

function isFolder({ before, after }: FileChange): boolean {
  return [before, after].every(entry => entry === null || entry.startsWith(FOLDER_MODE))
}

function isFileEntry(entry: string | null): boolean {
  return entry === null || !(entry.startsWith(FOLDER_MODE) || entry.startsWith(REPOSITORY_MODE))
}
