import fs from 'node:fs'
import path from 'node:path'
import { hasCode } from '../../lib/errors.ts'
import { type FolderHandle, openFolderFollowingLinks, openFolderWithoutLinks } from './folder-handle.ts'

const { O_RDONLY, O_RDWR, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = fs.constants

/** Characters of a file's name that its draft repeats: all of a draft's name fits into 255 bytes. */
const MAX_NAME_LENGTH = 60

export interface WriteOptions {
  readonly mode?: number
  /** Whether it is to survive power loss. */
  readonly isDurable?: boolean
}

/**
 * Puts new content into somebody's file, durably, with the rights that it has. No part of the path may be a link. Nothing is
 * written where nothing is different.
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

/** Writes a file so that after power loss it holds either the old or the new content, and the new once we return. */
export function writeDurably(file: string, content: string | Uint8Array, mode = 0o600): void {
  withFolderOf(file, (folder, name) => replaceIn(folder, name, content, { mode, isDurable: true }))
}

/** Replaces a file in one step, for readers at the same time; not meant to survive power loss. */
export function replaceFile(file: string, content: string | Uint8Array): void {
  withFolderOf(file, (folder, name) => replaceIn(folder, name, content))
}

/** The same, unless the file has that content already: then nothing is written, so that a full disk does not matter. */
export function replaceIfChanged(file: string, content: string): void {
  const isSame = fs.existsSync(file) && fs.readFileSync(file, 'utf8') === content
  if (!isSame) replaceFile(file, content)
}

/**
 * Puts a file in its place in one step, whatever was there: a link is replaced and not followed. A folder in its place is
 * moved aside, and an error tells where to: nothing in it is lost.
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

/** Moves a file within a folder. A folder in its way gets another name, which is the answer. */
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

/** Writes what is to be put in the place of a file beside it; answers its name. It is a new file, which nobody can foresee. */
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
    fs.rmSync(folder.at(temporary), { force: true }) // A full disk is not filled further.
    throw cause
  } finally {
    fs.closeSync(fd)
  }
  return temporary
}

export function temporaryName(name: string): string {
  return `.${name.slice(0, MAX_NAME_LENGTH)}.${randomHex(8)}.tmp`
}

/** The file that a draft was to become; null for any other name. */
export function parseTemporaryName(name: string): string | null {
  return /^\.(.+)\.[0-9a-f]{16}\.tmp$/.exec(name)?.[1] ?? null
}

/** Links on the way are followed once, at the beginning; from then on everything happens in the folder that was found. */
function withFolderOf(file: string, action: (folder: FolderHandle, name: string) => void): void {
  const folder = openFolderFollowingLinks(path.dirname(file))
  try {
    action(folder, path.basename(file))
  } finally {
    folder.close()
  }
}

/** Reads a regular file, not a link, of at most this many bytes. A pipe or a device in its place is refused at once. */
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

/** At most `limit` bytes of a file from `offset` on; nothing when it is not there. */
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

/** The last bytes of a file, at most `limit`, as text. */
export function readTail(file: string, limit: number): string {
  const size = fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return readPart(file, Math.max(0, size - limit), limit).toString()
}

/** Cuts a file to `length` and appends; answers its new length. Doing it again leads to the same file. */
export function truncateAndWrite(file: string, length: number, text: string): number {
  const fd = fs.openSync(file, O_RDWR | O_CREAT, 0o600)
  try {
    if (fs.fstatSync(fd).size > length) fs.ftruncateSync(fd, length)
    const bytes = Buffer.from(text)
    // A disk that is nearly full takes a part of it without a word, and refuses the rest.
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
 * A name that nobody can foresee. It uses the global Web Crypto object, which Node loads at its first use: `node:crypto` takes
 * several milliseconds, and most commands write no file.
 */
export function randomHex(bytes: number): string {
  return Buffer.from(globalThis.crypto.getRandomValues(new Uint8Array(bytes))).toString('hex')
}
