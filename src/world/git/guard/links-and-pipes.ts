import fs from 'node:fs'
import { hasCode } from '../../../lib/errors.ts'
import { NotSaved } from '../../../ports/checkpoints.ts'
import { lstat } from '../../../os/files/lstat-if-exists.ts'
import { isSettled } from '../../../os/files/mtime-is-settled.ts'

/**
 * Entries of a git folder that git replaces or appends to, and through which it would write if they were links:
 * FETCH_HEAD, MERGE_MSG and similar files, and these. HEAD is not in the list: git replaces a link there. Others, such
 * as `hooks`, may be links: git only reads them.
 */
const WRITTEN_ENTRIES =
  /^(?:[a-z]+_[a-z_]+|index|packed-refs|shallow|config\.worktree|refs|logs|reftable|worktrees|lfs|rebase-\w+|sequencer|gc\.\w+)$/i

/**
 * Folders of a git folder that must not contain links: git writes to any file in them, and removes some of them as a
 * whole.
 */
const WRITTEN_FOLDERS: ReadonlySet<string> = new Set(
  'refs logs reftable worktrees rebase-merge rebase-apply sequencer lfs'.split(' '),
)

/**
 * Subfolders with other repositories, or with contents by hash. They are large, and git itself writes to none of them.
 */
const SKIPPED = /^(?:worktrees\/[^/]+\/modules|lfs\/objects)$/

/** No repository has so many folders of refs, logs and worktrees; a check of more would take long. */
const MAX_FOLDERS = 50_000

/**
 * By folder: its stamp at the last check, and its subfolders. The stamp changes when somebody adds or replaces an
 * entry.
 */
const checkedFolders = new Map<string, { readonly stamp: string; readonly folders: readonly string[] }>()

/**
 * Throws `NotSaved` if a git folder contains a link through which git would write, or a pipe or device at which it
 * would hang.
 */
export function assertNoLinks(folder: string): void {
  const trees: string[] = []
  for (const entry of readEntries(folder)) {
    const file = `${folder}/${entry.name}`
    if (WRITTEN_ENTRIES.test(entry.name)) assertNoLink(file, entry)
    else assertNoPipe(file, entry)
    if (entry.name.includes('_') && entry.isFile()) assertNoHardLink(file)
    if (WRITTEN_FOLDERS.has(entry.name.toLowerCase())) trees.push(entry.name)
  }
  for (let at = 0; at < trees.length; at++) {
    if (at > MAX_FOLDERS) throw new NotSaved(`${folder} has more than ${MAX_FOLDERS} folders of refs and logs`)
    trees.push(...subfolders(folder, trees[at] as string))
  }
}

/** Returns the subfolders of a folder, relative to the root; checks its entries if it has changed. */
function subfolders(root: string, name: string): readonly string[] {
  const folder = `${root}/${name}`
  const stat = lstat(folder)
  if (stat === undefined) return []
  assertNoLink(folder, stat)
  const stamp = `${stat.dev}:${stat.ino}:${stat.ctimeMs}`
  const before = checkedFolders.get(folder)
  if (before?.stamp === stamp) return before.folders
  const folders = scanFolder(root, name)
  if (checkedFolders.size > 2 * MAX_FOLDERS) checkedFolders.clear()
  if (isSettled(stat)) checkedFolders.set(folder, { stamp, folders })
  return folders
}

function scanFolder(root: string, name: string): string[] {
  const parts = name.split('/')
  const folders: string[] = []
  for (const entry of readEntries(`${root}/${name}`)) {
    const inside = `${name}/${entry.name}`
    const file = `${root}/${inside}`
    if (entry.isDirectory() && !SKIPPED.test(inside)) folders.push(inside)
    if (entry.isSymbolicLink() && parts.includes('refs') && isSymbolicRef(file)) continue
    assertNoLink(file, entry)
    if (entry.isFile() && parts.includes('logs')) assertNoHardLink(file)
  }
  return folders
}

function readEntries(folder: string): fs.Dirent[] {
  try {
    return fs.readdirSync(folder, { withFileTypes: true })
  } catch (cause) {
    // It vanished, is a file, or belongs to another user: git cannot write there either.
    if (hasCode(cause, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM')) return []
    throw cause
  }
}

/** Old versions of git wrote symbolic refs as links. git reads such a link, and does not follow it. */
function isSymbolicRef(file: string): boolean {
  const target = fs.readlinkSync(file)
  return target.startsWith('refs/') && !target.split('/').includes('..') && !fs.existsSync(file)
}

type FileKind = Pick<fs.Stats, 'isSymbolicLink' | 'isFIFO' | 'isCharacterDevice' | 'isBlockDevice'>

/** `kind`: the file type, if the caller knows it already. */
export function assertNoLink(file: string, kind: FileKind | undefined = lstat(file)): void {
  if (kind === undefined) return
  if (kind.isSymbolicLink()) throw new NotSaved(`${file} is a link, and git would write where it leads to`)
  assertNoPipe(file, kind)
}

function assertNoPipe(file: string, kind: FileKind): void {
  const isOdd = kind.isFIFO() || kind.isCharacterDevice() || kind.isBlockDevice()
  if (isOdd) throw new NotSaved(`${file} is a pipe or a device, and git would hang when it opens it`)
}

/** git writes logs, MERGE_MSG and similar files in place: through a hard link it would write to another file. */
function assertNoHardLink(file: string): void {
  if ((lstat(file)?.nlink ?? 1) > 1)
    throw new NotSaved(
      `${file} is a second name of another file, and git would write to both`,
      `cp -p ${JSON.stringify(file)} NEW && mv NEW ${JSON.stringify(file)}`,
    )
}
