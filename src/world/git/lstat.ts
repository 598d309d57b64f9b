import fs from 'node:fs'
import { hasCode } from '../../lib/trouble.ts'

/** What lies there, itself and not what it points to; undefined when there is nothing. */
export function lstat(file: string | Buffer): fs.Stats | undefined {
  try {
    return fs.lstatSync(file)
  } catch (cause) {
    if (hasCode(cause, 'ENOENT', 'ENOTDIR')) return undefined
    throw cause
  }
}
