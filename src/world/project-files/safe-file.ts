import fs from 'node:fs'
import { hasCode } from '../../lib/errors.ts'
import type { FolderHandle } from '../../os/files/folder-handle.ts'

const { O_RDONLY, O_RDWR, O_WRONLY, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = fs.constants
/** oneshot's own files are shorter. */
const MAX_FILE_SIZE = 262_144

/** Opens a file of oneshot that is neither a symbolic link nor a hard link to another file; null if there is none. */
export function openSafely(folder: FolderHandle, file: string, flags = O_RDWR): number | null {
  try {
    const fd = fs.openSync(folder.at(file), flags | O_NOFOLLOW | O_NONBLOCK)
    const stat = fs.fstatSync(fd)
    if (stat.isFile() && stat.nlink === 1 && describeUnsafe(stat) === null) return fd
    fs.closeSync(fd)
    return null
  } catch (cause) {
    if (hasCode(cause, 'ENOENT', 'ELOOP', 'EMLINK', 'ENXIO', 'EISDIR', 'EACCES')) return null
    throw cause
  }
}

/** Returns why others could change the file or folder; null if only this user can. */
export function describeUnsafe(stat: fs.Stats): string | null {
  const uid = process.getuid?.()
  if (uid !== undefined && stat.uid !== uid) return `it belongs to another user (uid ${stat.uid}, you are ${uid})`
  return (stat.mode & 0o022) === 0
    ? null
    : `others can write to it (mode ${(stat.mode & 0o777).toString(8).padStart(4, '0')})`
}

/** Appends to a file of oneshot. Returns false if there is none. */
export function appendSafely(folder: FolderHandle, file: string, text: string): boolean {
  const fd = openSafely(folder, file, O_WRONLY | O_APPEND)
  if (fd === null) return false
  try {
    fs.writeFileSync(fd, text)
    return true
  } finally {
    fs.closeSync(fd)
  }
}

/** Returns the beginning of a file of oneshot; '' if there is none. */
export function readSafely(folder: FolderHandle, file: string): string {
  const fd = openSafely(folder, file, O_RDONLY)
  if (fd === null) return ''
  try {
    const bytes = Buffer.alloc(Math.min(MAX_FILE_SIZE, fs.fstatSync(fd).size))
    return bytes.toString('utf8', 0, fs.readSync(fd, bytes, 0, bytes.length, 0))
  } finally {
    fs.closeSync(fd)
  }
}
