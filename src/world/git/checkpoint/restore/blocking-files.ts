import fs from 'node:fs'
import { joinBelow, parentFolders, type RawPath, rawPath, splitRawPaths } from '../../../../lib/text/raw-path.ts'
import { NO_INDEX } from '../../git.ts'
import { lstat } from '../../../../os/files/lstat-if-exists.ts'
import type { RepositoryContext } from '../../repository-context.ts'

/** The mode of a tree entry that is another repository. */
const GITLINK = '160000'

/**
 * Returns files that the checkout would destroy. Ignored or too large files are in neither tree; git overwrites them
 * without a warning since 2.34. The list also has files that differ from the first tree, and repositories in the place
 * of files, which git would remove as a whole.
 */
export async function findBlockingFiles(
  { git, repository }: RepositoryContext,
  { from, to }: { from: string; to: string },
  isUnsaved: (path: RawPath) => boolean,
): Promise<RawPath[]> {
  const command = ['diff-tree', '-r', '-z', '--no-renames', '--raw', '--no-abbrev', from, to]
  const words = splitRawPaths(await git.run(command, { index: NO_INDEX }))
  const added: RawPath[] = []
  const unsaved: RawPath[] = []
  const removed = new Set<RawPath>()
  for (let at = 0; at + 1 < words.length; at += 2) {
    const path = words[at + 1] as RawPath
    const [before, , , , status] = words[at]?.split(' ') ?? []
    if (status === 'A') added.push(path)
    else if (before === `:${GITLINK}`) unsaved.push(...(status === 'T' ? nonEmptyRepository(repository.top, path) : []))
    else if (isUnsaved(path)) unsaved.push(path)
    if (status === 'D') removed.add(path)
  }
  return [...new Set([...unsaved, ...added.flatMap(path => blockersOf(repository.top, path, removed))])]
}

/** git leaves the folder of a repository alone unless it has to write a file in its place. */
function nonEmptyRepository(top: string, path: RawPath): RawPath[] {
  const folder = joinBelow(top, path)
  return lstat(folder)?.isDirectory() && fs.readdirSync(folder).length > 0 ? [path] : []
}

function blockersOf(top: string, path: RawPath, removed: ReadonlySet<RawPath>): RawPath[] {
  for (const folder of parentFolders(path)) {
    const stat = lstat(joinBelow(top, folder))
    if (stat === undefined) return []
    if (!stat.isDirectory()) return removed.has(folder) ? [] : [folder]
  }
  const stat = lstat(joinBelow(top, path))
  if (stat === undefined) return []
  return stat.isDirectory() ? unknownFilesIn(top, path, removed) : [path]
}

function unknownFilesIn(top: string, folder: RawPath, removed: ReadonlySet<RawPath>): RawPath[] {
  const entries = fs
    .readdirSync(joinBelow(top, folder), { encoding: 'buffer' })
    .map(name => `${folder}/${rawPath(name)}`)
  return entries.flatMap(path => {
    if (lstat(joinBelow(top, path))?.isDirectory()) return unknownFilesIn(top, path, removed)
    return removed.has(path) ? [] : [path]
  })
}
