import fs from 'node:fs'
import { hasCode } from '../../lib/errors.ts'
import path from 'node:path'
import { openFolderFollowingLinks } from '../../os/files/folder-handle.ts'
import { removeEntryIn } from '../../os/files/remove-tree.ts'

/** Returns the entry itself, not the target of a link; undefined if there is none. */
export function lstat(file: string | Buffer): fs.Stats | undefined {
  try {
    return fs.lstatSync(file, { throwIfNoEntry: false }) // An exception for each missing file takes ten times as long.
  } catch (cause) {
    if (hasCode(cause, 'ENOTDIR')) return undefined
    throw cause
  }
}

/** Removes our state of a repository, and the parent folder if it is empty: we created it for this purpose. */
export function removeStateFolder(folder: string): void {
  const around = path.dirname(folder)
  if (!fs.existsSync(around)) return
  const held = openFolderFollowingLinks(around)
  try {
    removeEntryIn(held, path.basename(folder))
  } finally {
    held.close()
  }
  if (fs.readdirSync(around).length === 0) fs.rmdirSync(around)
}
