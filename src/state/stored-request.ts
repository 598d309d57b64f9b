import fs from 'node:fs'
import { hasCode } from '../lib/errors.ts'
import type { StoredRequest } from '../ports/runtime.ts'
import { readPart } from '../os/files/file-io.ts'
import type { AttemptFolder } from './session-folder.ts'

/** Bytes of a request's file. A request with the longest name of a session is shorter. */
const SIZE = 512

/** Names of sessions look like this. The request leaves any other text out. */
const NAME = /^\S{1,400}$/

/** Each attempt has this file from the start. A request is written over it in place, which takes no room on a full disk. */
export const ROOM_FOR_REQUEST = '\n'.repeat(SIZE)

/** Stores a request for the supervisor that comes next. False when there is no room: only attempts of older versions have none. */
export function storeRequest({ request: file }: AttemptFolder, { type, by }: StoredRequest): boolean {
  try {
    const actor = by !== null && NAME.test(by) ? ` ${by}` : ''
    writeInPlace(file, `${type}${actor}\nend\n`)
    return true
  } catch (cause) {
    if (hasCode(cause, 'ENOSPC', 'EDQUOT', 'ENOENT')) return false
    throw cause
  }
}

/** A request counts once its last line is there: the command may have been killed while it wrote. */
export function readRequest({ request: file }: AttemptFolder): StoredRequest | null {
  const [line = '', last] = readPart(file, 0, SIZE).toString().split('\n')
  const [, type, by] = /^(stop|hold)(?: (\S+))?$/.exec(line) ?? []
  if (last !== 'end' || (type !== 'stop' && type !== 'hold')) return null
  return { type, by: by ?? null }
}

/** Without cutting the file first: a file that was cut has given its room away. */
function writeInPlace(file: string, text: string): void {
  const { O_WRONLY, O_CREAT } = fs.constants
  const fd = fs.openSync(file, O_WRONLY | O_CREAT, 0o600)
  try {
    fs.writeSync(fd, text, 0)
  } finally {
    fs.closeSync(fd)
  }
}
