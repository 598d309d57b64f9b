import fs from 'node:fs'
import { lstat } from '../lstat.ts'

/** Files where the index has another repository are not looked at by git. They are files, once there is no repository. */
export function isAbandoned(folder: Buffer): boolean {
  if (!lstat(folder)?.isDirectory() || lstat(Buffer.concat([folder, Buffer.from('/.git')])) !== undefined) return false
  return fs.readdirSync(folder).length > 0
}
