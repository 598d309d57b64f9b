import fs from 'node:fs'
import path from 'node:path'
import { hasCode } from '../../lib/errors.ts'
import { type FolderHandle, openFolderFollowingLinks, openFolderWithoutLinks } from './folder-handle.ts'

const { O_RDONLY, O_RDWR, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = fs.constants

/** Characters of a file's name in the name of its temporary file, so that the latter fits into 255 bytes. */
const MAX_NAME_LENGTH = 60

export interface WriteOptions {
  readonly mode?: number
  /** True if the file must survive power loss. */
  readonly isDurable?: boolean
}

/**
 * Changes the content of a user's file, durably, and keeps its mode. Refuses a path with a link in it. Writes nothing
 * if the content is the same.
 */
export function rewriteDurably(file: string, maxSize: number, change: (content: Buffer) => Uint8Array): void {
  const folder = openFolderWithoutLinks(path.dirname(file))
  if (folder === null) throw new Error(`${path.dirname(file)} is no folder, or a link`)
  try {
    const name = path.basename(file)
    const { content, mode } = readRegularFile(folder.at(name), maxSize)
    const changed = change(content)
    if (!content.equals(changed)) replaceIn(folder, name, changed, { mode, isDurable: true })
  } finally {
    folder.close()
  }
}

/** Writes a file so that after power loss it holds either the old or the new content, and the new once this returns. */
export function writeDurably(file: string, content: string | Uint8Array, mode = 0o600): void {
  withFolderOf(file, (folder, name) => replaceIn(folder, name, content, { mode, isDurable: true }))
}

/** Replaces a file atomically for concurrent readers; the change may not survive power loss. */
export function replaceFile(file: string, content: string | Uint8Array): void {
  withFolderOf(file, (folder, name) => replaceIn(folder, name, content))
}

/** Like `replaceFile`, but writes nothing if the file already has that content, so that a full disk does not matter. */
export function replaceIfChanged(file: string, content: string): void {
  const isSame = fs.existsSync(file) && fs.readFileSync(file, 'utf8') === content
  if (!isSame) replaceFile(file, content)
}

/**
 * Puts a file in place atomically. Replaces a link and does not follow it. Moves a folder in its place aside and throws
 * an error with the folder's new name, so that nothing in it is lost.
 */
export function replaceIn(
  folder: FolderHandle,
  name: string,
  content: string | Uint8Array,
  options: WriteOptions = {},
): void {
  const temporary = writeTemporary(folder, name, content, options)
  let moved: string | null = null
  try {
    moved = renameOver(folder, temporary, name)
  } catch (cause) {
    fs.rmSync(folder.at(temporary), { force: true })
    throw cause
  }
  if (options.isDurable) fsyncFolder(folder.at('.'))
  if (moved !== null) throw new Error(`a folder was in the place of ${name}; oneshot renamed it to ${moved}`)
}

/** Moves a file within a folder. If a folder is in the way, gives that folder another name and returns the name. */
export function renameOver(folder: FolderHandle, from: string, to: string): string | null {
  try {
    fs.renameSync(folder.at(from), folder.at(to))
    return null
  } catch (cause) {
    if (!hasCode(cause, 'EISDIR', 'ENOTEMPTY', 'EEXIST')) throw cause
    const backup = `${to}.aside-${randomHex(8)}`
    fs.renameSync(folder.at(to), folder.at(backup))
    fs.renameSync(folder.at(from), folder.at(to))
    return backup
  }
}

/** Writes a new file with an unpredictable name beside the file that it will replace. Returns that name. */
export function writeTemporary(
  folder: FolderHandle,
  name: string,
  content: string | Uint8Array,
  options: WriteOptions = {},
): string {
  const { mode = 0o600, isDurable = false } = options
  const temporary = temporaryName(name)
  const fd = fs.openSync(folder.at(temporary), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
  try {
    fs.writeFileSync(fd, content)
    if (mode !== 0o600) fs.fchmodSync(fd, mode)
    if (isDurable) fs.fsyncSync(fd)
  } catch (cause) {
    fs.rmSync(folder.at(temporary), { force: true }) // A failed write must not keep space on a full disk.
    throw cause
  } finally {
    fs.closeSync(fd)
  }
  return temporary
}

export function temporaryName(name: string): string {
  return `.${name.slice(0, MAX_NAME_LENGTH)}.${randomHex(8)}.tmp`
}

/** Returns the name of the file that a temporary file was to replace; null for any other name. */
export function parseTemporaryName(name: string): string | null {
  return /^\.(.+)\.[0-9a-f]{16}\.tmp$/.exec(name)?.[1] ?? null
}

/** Follows links in the path once, at the start; all further steps use the folder found there. */
function withFolderOf(file: string, action: (folder: FolderHandle, name: string) => void): void {
  const folder = openFolderFollowingLinks(path.dirname(file))
  try {
    action(folder, path.basename(file))
  } finally {
    folder.close()
  }
}

/** Reads a regular file, not a link, of at most `maxSize` bytes. Refuses a pipe or a device at once. */
export function readRegularFile(file: string | Buffer, maxSize: number): { content: Buffer; mode: number } {
  const fd = fs.openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const stat = fs.fstatSync(fd)
    if (!stat.isFile()) throw new Error(stat.isDirectory() ? 'it is a folder' : 'it is not a file')
    if (stat.size > maxSize) throw new Error(`it is longer than ${Math.floor(maxSize / 1_048_576)} MB`)
    const bytes = Buffer.alloc(Math.min(maxSize, stat.size))
    return { content: bytes.subarray(0, fs.readSync(fd, bytes, 0, bytes.length, 0)), mode: stat.mode & 0o7777 }
  } finally {
    fs.closeSync(fd)
  }
}

/** Reads at most `limit` bytes of a file from `offset` on. Returns an empty buffer if the file does not exist. */
export function readPart(file: string, offset: number, limit: number): Buffer {
  try {
    const fd = fs.openSync(file, O_RDONLY | O_NONBLOCK)
    try {
      const size = Math.max(0, Math.min(limit, fs.fstatSync(fd).size - offset))
      const bytes = Buffer.alloc(size)
      return bytes.subarray(0, fs.readSync(fd, bytes, 0, size, offset))
    } finally {
      fs.closeSync(fd)
    }
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return Buffer.alloc(0)
    throw cause
  }
}

/** Returns at most the last `limit` bytes of a file as text. */
export function readTail(file: string, limit: number): string {
  const size = fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return readPart(file, Math.max(0, size - limit), limit).toString()
}

/** Truncates a file to `length` and appends. Returns the new length. A repeated call leads to the same file. */
export function truncateAndWrite(file: string, length: number, text: string): number {
  const fd = fs.openSync(file, O_RDWR | O_CREAT, 0o600)
  try {
    if (fs.fstatSync(fd).size > length) fs.ftruncateSync(fd, length)
    const bytes = Buffer.from(text)
    // On an almost full disk, write accepts a part without an error and refuses the rest.
    for (let written = 0; written < bytes.length; )
      written += fs.writeSync(fd, bytes, written, bytes.length - written, length + written)
    return length + bytes.length
  } finally {
    fs.closeSync(fd)
  }
}

function fsyncFolder(folder: string): void {
  const fd = fs.openSync(folder, O_RDONLY)
  try {
    fs.fsyncSync(fd)
  } finally {
    fs.closeSync(fd)
  }
}

/**
 * Returns an unpredictable name. Uses the global Web Crypto object, which Node loads at its first use: `node:crypto`
 * takes several milliseconds to load, and most commands write no file.
 */
export function randomHex(bytes: number): string {
  return Buffer.from(globalThis.crypto.getRandomValues(new Uint8Array(bytes))).toString('hex')
}
