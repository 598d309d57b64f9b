import fs from 'node:fs'
import { hasCode, isDiskFull } from '../lib/errors.ts'
import type { StoredRequest } from '../ports/runtime.ts'
import { readPart } from '../os/files/file-io.ts'
import type { AttemptFolder } from './session-folder.ts'

/** Bytes of the request file. A request with the longest session name is shorter. */
const SIZE = 512

/** Matches session names. A request drops any other text. */
const NAME = /^\S{1,400}$/

/**
 * Every attempt has this file from the start. A request overwrites it in place, which needs no space on a full disk.
 */
export const ROOM_FOR_REQUEST = '\n'.repeat(SIZE)

/**
 * Stores a request for the next supervisor. Returns false on a read-only disk, and without the file, which only attempts
 * of older versions lack.
 */
export function storeRequest({ request: file }: AttemptFolder, { type, by }: StoredRequest): boolean {
  try {
    const actor = by !== null && NAME.test(by) ? ` ${by}` : ''
    writeInPlace(file, `${type}${actor}\nend\n`)
    return true
  } catch (cause) {
    if (isDiskFull(cause) || hasCode(cause, 'ENOENT', 'EROFS')) return false
    throw cause
  }
}

/** Returns the request if its last line is there: the command may have been killed during the write. */
export function readRequest({ request: file }: AttemptFolder): StoredRequest | null {
  const [line = '', last] = readPart(file, 0, SIZE).toString().split('\n')
  const [, type, by] = /^(stop|hold)(?: (\S+))?$/.exec(line) ?? []
  if (last !== 'end' || (type !== 'stop' && type !== 'hold')) return null
  return { type, by: by ?? null }
}

/** Writes without truncating the file first: a truncated file gives up its space. */
function writeInPlace(file: string, text: string): void {
  const { O_WRONLY, O_CREAT } = fs.constants
  const fd = fs.openSync(file, O_WRONLY | O_CREAT, 0o600)
  try {
    fs.writeSync(fd, text, 0)
  } finally {
    fs.closeSync(fd)
  }
}
