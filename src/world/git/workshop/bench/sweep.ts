import { bytesOf, foldersOf, type RawPath, shown, splitRaw } from '../../../../lib/raw-path.ts'
import { removeEmptyBelow, unlinkBelow } from '../../../os/remove-tree.ts'
import type { Place } from '../../place.ts'
import type { Sight } from '../look-now.ts'
import { refuse } from '../notes.ts'

/** Removes files that git neither knows nor ignores, as far as they may go, and folders that are empty then. */
export async function sweep({ git, repository }: Place, mayGo: (file: RawPath) => boolean): Promise<void> {
  const { top } = repository
  const found = splitRaw(await git.run(['ls-files', '--others', '--exclude-standard', '-z']))
  // Another repository ends with a slash: it has a history of its own.
  const files = found.filter(file => !file.endsWith('/') && mayGo(file))
  for (const file of files) unlinkBelow(top, bytesOf(file))
  const folders = new Set(files.flatMap(foldersOf))
  for (const folder of [...folders].sort().reverse()) removeEmptyBelow(top, bytesOf(folder))
}

/** What could not be kept must not be written over: as a file that git knows, or by what comes to lie there. */
export async function assertSpared(
  { git }: Place,
  { untaken, leftOut }: Sight,
  { target, doing }: { target: string | null; doing: string },
): Promise<void> {
  if (untaken.length === 0) return
  const listed = async (words: readonly string[]): Promise<RawPath[]> => splitRaw(await git.run(words))
  const changed = new Set(await listed(CHANGED))
  const committed = new Set(await listed([...FILES, 'HEAD']))
  const coming = target === null ? [] : await listed([...FILES, target])
  const isCovered = (file: RawPath): boolean => !committed.has(file) && coming.some(other => isInTheWay(file, other))
  const lost = untaken.find(file => changed.has(file) || isCovered(file))
  if (lost === undefined) return
  const why = leftOut.find(sentence => sentence.startsWith(`${shown(lost)} `)) ?? `${shown(lost)} cannot be kept`
  refuse(doing, `${why}: commit it or move it away first`)
}

const FILES = ['ls-tree', '-r', '-z', '--name-only'] as const
/** Files that git knows, and are not as they are committed. */
const CHANGED = ['diff', '--name-only', '-z', '--no-renames', '--no-ext-diff', '--ignore-submodules', 'HEAD'] as const

function isInTheWay(file: RawPath, other: RawPath): boolean {
  return file === other || file.startsWith(`${other}/`) || other.startsWith(`${file}/`)
}
