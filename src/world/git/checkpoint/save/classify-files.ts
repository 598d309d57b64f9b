import fs from 'node:fs'
import { formatBytes } from '../../../../lib/bytes.ts'
import { type RawPath, displayPath, joinBelow } from '../../../../lib/text/raw-path.ts'
import { errorMessage } from '../../../../lib/errors.ts'
import { lstat } from '../../files.ts'
import type { Difference } from './status.ts'
import { readRegularFile } from '../../../../os/files/file-io.ts'

/** What is to be done to the private index. */
export interface ClassifiedFiles {
  readonly add: readonly RawPath[]
  readonly remove: readonly RawPath[]
  /** What cannot be taken from disk. */
  readonly carriedOver: readonly RawPath[]
  /** Why, as far as it is worth telling. */
  readonly leftOut: readonly string[]
  /** Those that this tells of. */
  readonly skippedPaths: readonly RawPath[]
}

export interface ClassifyOptions {
  readonly top: string
  /** Bytes; a larger file is left out. */
  readonly maxFileSize: number
  /** Folders that are other repositories and have a commit that can be noted down. */
  readonly repositories: ReadonlySet<RawPath>
  /** Files that must not be pushed, and why. */
  readonly secretFiles: ReadonlyMap<RawPath, string>
}

type FileAction = 'add' | 'remove' | 'stay' | 'nothing' | { readonly leftOut: string }

/** Looks at each file that is not in the index as it is on disk, and says what can be done about it. */
export function classifyFiles(differences: readonly Difference[], options: ClassifyOptions): ClassifiedFiles {
  const add = new Set<RawPath>()
  const remove = new Set<RawPath>()
  const stay = new Set<RawPath>()
  const leftOut = new Map<RawPath, string>()
  for (const difference of differences) {
    const verdict = classify(difference, options)
    if (verdict === 'add') add.add(difference.path)
    if (verdict === 'remove') remove.add(difference.path)
    // Its stages cannot stay, because there is no tree of an index with some.
    const isLeft = verdict === 'stay' || typeof verdict === 'object'
    if (isLeft) (difference.isUnmerged ? remove : stay).add(difference.path)
    if (typeof verdict === 'object') leftOut.set(difference.path, `${displayPath(difference.path)} ${verdict.leftOut}`)
  }
  return {
    add: [...add],
    remove: [...remove],
    carriedOver: [...stay],
    leftOut: [...leftOut.values()],
    skippedPaths: [...leftOut.keys()],
  }
}

function classify(difference: Difference, options: ClassifyOptions): FileAction {
  const { staged, working, path } = difference
  // What HEAD has and the index does not: somebody has added an ignored file by force, and committed it.
  const isLost = working === '.' && staged === 'D'
  const isSame = working === '.' && !isLost
  if (isSame && !difference.isRepository) return 'nothing'
  const isKnown = working !== '?' && !isLost
  const file = joinBelow(options.top, path)
  try {
    const stat = lstat(file)
    if (stat?.isDirectory() && isEmptySubmodule(file, difference, options)) return 'stay'
    if (isSame) return 'nothing'
    if (stat === undefined) return isKnown ? 'remove' : 'nothing'
    if (stat.isDirectory()) return options.repositories.has(path) ? 'add' : isKnown ? 'remove' : 'nothing'
    return classifyFile(file, stat, path, options)
  } catch (cause) {
    return { leftOut: `cannot be looked at: ${errorMessage(cause)}` }
  }
}

/** HEAD or the index have a repository there of which only the folder is there, or which cannot be used. */
function isEmptySubmodule(
  folder: Buffer,
  { working, path, isRepository }: Difference,
  options: ClassifyOptions,
): boolean {
  return isRepository && working !== '?' && !options.repositories.has(path) && !isRemovedRepository(folder)
}

function classifyFile(
  file: Buffer,
  stat: fs.Stats,
  path: RawPath,
  { maxFileSize, secretFiles }: ClassifyOptions,
): FileAction {
  const why = secretFiles.get(path)
  if (stat.isSymbolicLink()) return why === undefined ? 'add' : { leftOut: why }
  if (!stat.isFile()) return { leftOut: 'is neither a file nor a link' }
  if (stat.size > maxFileSize) {
    return { leftOut: `has ${formatBytes(stat.size)}, more than ${formatBytes(maxFileSize)}` }
  }
  if (!isReadable(file)) return { leftOut: 'may not be read' }
  return why === undefined ? 'add' : { leftOut: why }
}

function isReadable(file: Buffer): boolean {
  try {
    fs.accessSync(file, fs.constants.R_OK)
    return true
  } catch {
    return false // Or it is gone by now, which the next look will tell.
  }
}

/** git 2.39 reads no longer `.git` file. */
const LONGEST_GIT_FILE = 1_048_576

/** Files where the index has another repository are not looked at by git. They are files, once there is no repository. */
export function isRemovedRepository(folder: Buffer): boolean {
  try {
    return lstat(folder)?.isDirectory() === true && !hasRepository(folder) && fs.readdirSync(folder).length > 0
  } catch {
    return false // It may not be looked into: nobody knows, and it stays what it was.
  }
}

/** Whether there is one, or a file that leads to one. A worktree or a submodule may have been removed where it is kept. */
function hasRepository(folder: Buffer): boolean {
  const git = joinPath(folder, '.git')
  const stat = lstat(git)
  if (!stat?.isFile()) return stat !== undefined
  const text = readRegularFile(git, LONGEST_GIT_FILE).content.toString('latin1')
  const [, target = ''] = /^gitdir: (.*)/s.exec(text.replace(/(?<!\n)\n+$/, '')) ?? []
  return fs.existsSync(target.startsWith('/') ? Buffer.from(target, 'latin1') : joinPath(folder, target))
}

function joinPath(folder: Buffer, name: string): Buffer {
  return Buffer.concat([folder, Buffer.from(`/${name}`, 'latin1')])
}
