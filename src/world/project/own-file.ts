import fs from 'node:fs'
import { hasCode } from '../../lib/trouble.ts'
import type { Folder } from '../os/open-folder.ts'

const { O_RDONLY, O_RDWR, O_WRONLY, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = fs.constants
/** What we wrote ourselves is shorter. */
const LARGEST = 262_144

/** Opens a file of ours that is one: neither a link to another, nor another name for it. Null when there is no such file. */
export function openOwn(folder: Folder, file: string, flags = O_RDWR): number | null {
  try {
    const fd = fs.openSync(folder.at(file), flags | O_NOFOLLOW | O_NONBLOCK)
    const stat = fs.fstatSync(fd)
    if (stat.isFile() && stat.nlink === 1 && objectionTo(stat) === null) return fd
    fs.closeSync(fd)
    return null
  } catch (cause) {
    if (hasCode(cause, 'ENOENT', 'ELOOP', 'EMLINK', 'ENXIO', 'EISDIR', 'EACCES')) return null
    throw cause
  }
}

/** Why others could change what is in a file or folder; null when nobody but us can. */
export function objectionTo(stat: fs.Stats): string | null {
  const me = process.getuid?.()
  if (me !== undefined && stat.uid !== me) return `it belongs to another user (uid ${stat.uid}, you are ${me})`
  return (stat.mode & 0o022) === 0
    ? null
    : `others can write to it (mode ${(stat.mode & 0o777).toString(8).padStart(4, '0')})`
}

/** Appends to a file of ours; false when there is none. */
export function appendTo(folder: Folder, file: string, text: string): boolean {
  const fd = openOwn(folder, file, O_WRONLY | O_APPEND)
  if (fd === null) return false
  try {
    fs.writeFileSync(fd, text)
    return true
  } finally {
    fs.closeSync(fd)
  }
}

/** The beginning of a file of ours; nothing when there is none. */
export function readIn(folder: Folder, file: string): string {
  const fd = openOwn(folder, file, O_RDONLY)
  if (fd === null) return ''
  try {
    const bytes = Buffer.alloc(Math.min(LARGEST, fs.fstatSync(fd).size))
    return bytes.toString('utf8', 0, fs.readSync(fd, bytes, 0, bytes.length, 0))
  } finally {
    fs.closeSync(fd)
  }
}
