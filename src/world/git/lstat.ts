import fs from 'node:fs'
import { hasCode } from '../../lib/trouble.ts'

/** What lies there, itself and not what it points to; undefined when there is nothing. */
export function lstat(file: string | Buffer): fs.Stats | undefined {
  try {
    return fs.lstatSync(file, { throwIfNoEntry: false }) // To throw for each missing file takes ten times as long.
  } catch (cause) {
    if (hasCode(cause, 'ENOTDIR')) return undefined
    throw cause
  }
}
