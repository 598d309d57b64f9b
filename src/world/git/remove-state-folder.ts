import fs from 'node:fs'
import path from 'node:path'
import { openFolderFollowingLinks } from '../../os/files/folder-handle.ts'
import { removeEntryIn } from '../../os/files/remove-tree.ts'

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
