import fs from 'node:fs'
import { formatBytes } from '../../../../lib/bytes.ts'
import { type RawPath, displayPath, joinBelow } from '../../../../lib/text/raw-path.ts'
import { errorMessage } from '../../../../lib/errors.ts'
import { lstat } from '../../../../os/files/lstat-if-exists.ts'
import type { Difference } from './working-tree-status.ts'
import { readRegularFile } from '../../../../os/files/file-io.ts'

/** The changes to make to the private index. */
export interface ClassifiedFiles {
  readonly add: readonly RawPath[]
  readonly remove: readonly RawPath[]
  /** Files that we cannot read from disk. */
  readonly carriedOver: readonly RawPath[]
  /** Sentences for the user about files left out. */
  readonly leftOut: readonly string[]
  /** The paths of those sentences. */
  readonly skippedPaths: readonly RawPath[]
}

export interface ClassifyOptions {
  readonly top: string
  /** Bytes; a checkpoint leaves out a larger file. */
  readonly maxFileSize: number
  /** Folders that are other repositories and have a HEAD to record. */
  readonly repositories: ReadonlySet<RawPath>
  /** Files that a push must not contain, with the reason. */
  readonly secretFiles: ReadonlyMap<RawPath, string>
}

type FileAction = 'add' | 'remove' | 'stay' | 'nothing' | { readonly leftOut: string }

/** Decides for each file that differs from the index what to do with it. */
export function classifyFiles(differences: readonly Difference[], options: ClassifyOptions): ClassifiedFiles {
  const add = new Set<RawPath>()
  const remove = new Set<RawPath>()
  const stay = new Set<RawPath>()
  const leftOut = new Map<RawPath, string>()
  for (const difference of differences) {
    const verdict = classify(difference, options)
    if (verdict === 'add') add.add(difference.path)
    if (verdict === 'remove') remove.add(difference.path)
    // An unmerged entry cannot stay, because git cannot write a tree from it.
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
  // HEAD has the file and the index does not: somebody force-added an ignored file and committed it.
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

/**
 * Returns true if HEAD or the index has a repository there, but on disk there is only its folder or an unusable
 * repository.
 */
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
    return false // Or the file has vanished, which the next status shows.
  }
}

/** git 2.39 rejects a longer `.git` file. */
const MAX_GIT_FILE_SIZE = 1_048_576

/**
 * git does not look into a folder that is a gitlink in the index. If its repository is gone, its files are ordinary
 * files.
 */
export function isRemovedRepository(folder: Buffer): boolean {
  try {
    return lstat(folder)?.isDirectory() === true && !hasRepository(folder) && fs.readdirSync(folder).length > 0
  } catch {
    return false // We may not read the folder, so the entry stays.
  }
}

/**
 * Returns true if the folder has a repository or a `.git` file with an existing target. A worktree or submodule may
 * have lost that target.
 */
function hasRepository(folder: Buffer): boolean {
  const git = joinPath(folder, '.git')
  const stat = lstat(git)
  if (!stat?.isFile()) return stat !== undefined
  const text = readRegularFile(git, MAX_GIT_FILE_SIZE).content.toString('latin1')
  const [, target = ''] = /^gitdir: (.*)/s.exec(text.replace(/(?<!\n)\n+$/, '')) ?? []
  return fs.existsSync(target.startsWith('/') ? Buffer.from(target, 'latin1') : joinPath(folder, target))
}

function joinPath(folder: Buffer, name: string): Buffer {
  return Buffer.concat([folder, Buffer.from(`/${name}`, 'latin1')])
}
