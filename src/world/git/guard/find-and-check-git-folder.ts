import fs from 'node:fs'
import path from 'node:path'
import { formatBytes } from '../../../lib/bytes.ts'
import { rawPathBytes, isUtf8, rawPath } from '../../../lib/text/raw-path.ts'
import { NotSaved } from '../../../ports/checkpoints.ts'
import { readRegularFile } from '../../../os/files/file-io.ts'
import { lstat } from '../../../os/files/lstat-if-exists.ts'
import { isSettled } from '../../../os/files/mtime-is-settled.ts'
import { assertNoLink, assertNoLinks } from './links-and-pipes.ts'

/**
 * The git folders that git would use, starting from its working folder. We find them by reading files: git itself would
 * read the configuration first.
 */
export interface GitFolder {
  /** The folder that contains `.git`. */
  readonly top: string
  /** The git folder of this worktree. */
  readonly own: string
  /** The git folder that all worktrees of the repository share. */
  readonly shared: string
}

const KB = 1_024
const MB = 1_024 * KB
const GB = 1_024 * MB

/** For a file that contains a path or the name of a branch. */
const MAX_LINE_LENGTH = 64 * KB

/** Files that git reads as a whole, with their size limits. Each must be a regular file: git would hang at a pipe. */
const OWN_FILES: Readonly<Record<string, number>> = { HEAD: MAX_LINE_LENGTH, index: 4 * GB, 'config.worktree': MB }
const SHARED_FILES: Readonly<Record<string, number>> = {
  config: MB,
  'packed-refs': GB,
  shallow: GB,
  'info/exclude': 16 * MB,
  'info/attributes': 16 * MB,
  'info/grafts': 16 * MB,
  'info/sparse-checkout': 16 * MB,
  'objects/info/alternates': MB,
  'objects/info/commit-graph': 4 * GB,
}
const TOP_FILES: Readonly<Record<string, number>> = {
  '.gitignore': 16 * MB,
  '.gitattributes': 16 * MB,
  '.gitmodules': 16 * MB,
  '.lfsconfig': MB,
  '.mailmap': 16 * MB,
}

/** Returns the git folder around this folder; null if there is none. */
export function findGitFolder(cwd: string): GitFolder | null {
  for (let top = cwd; ; top = path.dirname(top)) {
    const place = path.join(top, '.git')
    const stat = lstat(place)
    if (stat !== undefined) return { top, ...resolveGitDirs(place, stat) }
    if (top === path.dirname(top)) return null
  }
}

/** Returns the folders that an agent in this repository can write to: the working trees and the git folders. */
export function repositoryFolders({ top, own, shared }: GitFolder): string[] {
  return [top, own, shared, ...(path.basename(shared) === '.git' ? [path.dirname(shared)] : [])]
}

/**
 * Throws `NotSaved` if git would take a folder between `cwd` and the top of the working tree for a bare repository, and
 * use its configuration.
 */
export function assertNoBareRepository(cwd: string, { top, own, shared }: GitFolder): void {
  for (let folder = cwd; ; folder = path.dirname(folder)) {
    if (folder !== own && folder !== shared && isGitFolder(folder))
      throw new NotSaved(`${folder} looks like a bare repository, and git would use that one`)
    if (folder === top || folder === path.dirname(folder)) return
  }
}

/** Returns true if git would take it for a git folder. */
function isGitFolder(folder: string): boolean {
  const isThere = (name: string): boolean => lstat(path.join(folder, name)) !== undefined
  return fs.existsSync(path.join(folder, 'HEAD')) && isThere('objects') && isThere('refs')
}

/** Returns the git folder of a working tree with this top; null if there is none. */
export function readGitFolder(top: string): GitFolder | null {
  const place = path.join(top, '.git')
  const stat = lstat(place)
  return stat === undefined ? null : { top, ...resolveGitDirs(place, stat) }
}

/** Returns true if the files of a working tree's repository show a branch of this name. */
export function hasBranchFile(top: string, branch: string): boolean {
  try {
    const folder = readGitFolder(top)
    if (folder === null) return false
    const ref = `refs/heads/${branch}`
    if (lstat(path.join(folder.shared, ref)) !== undefined) return true
    const packed = readRegularFile(path.join(folder.shared, 'packed-refs'), 16 * MB).content.toString('latin1')
    return packed.split('\n').some(line => line.endsWith(` ${ref}`))
  } catch {
    return false // No ref is packed, or the repository stores refs in another format.
  }
}

/** Returns the checked-out commit without running git; null if there is none, or if no file contains it. */
export function readHeadFromFiles(top: string): string | null {
  try {
    const folder = readGitFolder(top)
    const [, ref] = folder === null ? [] : (/^ref: (refs\/.+)$/.exec(readLine(path.join(folder.own, 'HEAD'))) ?? [])
    if (folder === null) return null
    if (ref === undefined) return parseCommitId(readLine(path.join(folder.own, 'HEAD')))
    const loose = path.join(folder.shared, ref)
    if (lstat(loose) !== undefined) return parseCommitId(readLine(loose))
    const packed = readRegularFile(path.join(folder.shared, 'packed-refs'), 16 * MB).content.toString('latin1')
    return parseCommitId(
      packed
        .split('\n')
        .find(line => line.endsWith(` ${ref}`))
        ?.split(' ')[0] ?? '',
    )
  } catch {
    return null // The repository has no commit yet, or stores it in another format.
  }
}

function parseCommitId(text: string): string | null {
  return /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(text) ? text : null
}

function resolveGitDirs(place: string, stat: fs.Stats): Pick<GitFolder, 'own' | 'shared'> {
  if (!stat.isFile() && !fs.statSync(place, { throwIfNoEntry: false })?.isDirectory()) {
    throw new NotSaved(`${place} is neither a folder nor a file`)
  }
  const own = stat.isFile() ? path.resolve(path.dirname(place), readLine(place).replace(/^gitdir: /, '')) : place
  const common = path.join(own, 'commondir')
  return { own, shared: lstat(common) === undefined ? own : path.resolve(own, readLine(common)) }
}

/** git uses each byte unchanged, and ends a path at a NUL. Any other text would lead us to another folder than git. */
function readLine(file: string): string {
  const text = rawPath(readContent(file)).replace(/(?<![\n\r])[\n\r]+$/, '')
  if (!isUtf8(text) || text.includes('\0')) throw new NotSaved(`${file} is not UTF-8 text`)
  return rawPathBytes(text).toString()
}

function readContent(file: string): Buffer {
  try {
    return readRegularFile(file, MAX_LINE_LENGTH).content
  } catch (cause) {
    throw new NotSaved(`${file} cannot be read: ${cause instanceof Error ? cause.message : 'unknown'}`)
  }
}

/** Throws `NotSaved` if git would hang, read without end, or write through a link. Costs a few file system calls. */
export function assertSafe({ top, own, shared }: GitFolder): void {
  assertFiles(own, OWN_FILES)
  assertFiles(shared, SHARED_FILES)
  assertFiles(top, TOP_FILES)
  for (const folder of new Set([own, shared])) assertNoLinks(folder)
  assertObjects(path.join(shared, 'objects'))
}

/** Refuses a ref if the ref or its log is a link or lies behind one. */
export function assertRef(shared: string, ref: string): void {
  const names = ref.split('/')
  for (let count = 2; count <= names.length; count++) {
    const part = path.join(...names.slice(0, count))
    assertNoLink(path.join(shared, part))
    assertNoLink(path.join(shared, 'logs', part))
  }
}

function assertFiles(folder: string, files: Readonly<Record<string, number>>): void {
  for (const [name, longest] of Object.entries(files)) {
    const file = `${folder}/${name}`
    const stat = fs.statSync(file, { throwIfNoEntry: false })
    if (stat === undefined) continue
    if (!stat.isFile()) throw new NotSaved(`${file} is not a file`)
    if (stat.size > longest) throw new NotSaved(`${file} is longer than ${formatBytes(longest)}`)
  }
}

/** By folder: its stamp at the last check. The stamp changes when somebody adds an entry. */
const checkedFolders = new Map<string, string>()

/** The whole objects folder may be a link to another repository's objects; no entry in it may be a link. */
function assertObjects(folder: string): void {
  const stat = fs.statSync(folder, { throwIfNoEntry: false })
  if (stat === undefined) return
  const target = lstat(folder)?.isSymbolicLink() ? fs.realpathSync(folder) : folder
  if (path.basename(target) !== 'objects' || (target !== folder && !isGitFolder(path.dirname(target))))
    throw new NotSaved(`${folder} is a link, and git would write where it leads to`)
  const stamp = `${stat.ino}:${stat.mtimeMs}:${stat.ctimeMs}`
  if (checkedFolders.get(folder) === stamp) return
  const link = fs.readdirSync(folder, { withFileTypes: true }).find(entry => entry.isSymbolicLink())
  if (link !== undefined)
    throw new NotSaved(`${path.join(folder, link.name)} is a link, and git would write where it leads to`)
  if (checkedFolders.size > 1_000) checkedFolders.clear()
  if (isSettled(stat)) checkedFolders.set(folder, stamp)
}
