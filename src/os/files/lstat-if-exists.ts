import fs from 'node:fs'
import { hasCode } from '../../lib/errors.ts'

/** Returns the entry itself, not the target of a link; undefined if there is none. */
export function lstat(file: string | Buffer): fs.Stats | undefined {
  try {
    return fs.lstatSync(file, { throwIfNoEntry: false }) // An exception for each missing file takes ten times as long.
  } catch (cause) {
    if (hasCode(cause, 'ENOTDIR')) return undefined
    throw cause
  }
}
