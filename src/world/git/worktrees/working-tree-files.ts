import fs from 'node:fs'
import path from 'node:path'
import { joinBelow } from '../../../lib/text/raw-path.ts'

/** Returns the files that contain an unresolved conflict; a deleted file resolves its conflict. */
export function findConflictMarkers(top: string, files: readonly string[]): string[] {
  return files.filter(file => {
    try {
      return /^(?:<{7}|>{7})(?: |$)/m.test(fs.readFileSync(path.join(top, file), 'latin1'))
    } catch {
      return false // The file is deleted.
    }
  })
}

/** Returns time, size and inode of each file. */
export function fileStamps(top: string, paths: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    paths.map(file => {
      const stat = fs.lstatSync(joinBelow(top, file), { throwIfNoEntry: false })
      return [file, stat === undefined ? '' : `${stat.mtimeMs} ${stat.size} ${stat.ino}`]
    }),
  )
}
