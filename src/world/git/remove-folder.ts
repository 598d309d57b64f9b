import fs from 'node:fs'
import path from 'node:path'
import { enterFolder } from '../os/open-folder.ts'
import { removeIn } from '../os/remove-tree.ts'

/** Removes what we have noted of a place, and the folder around it if nothing else is in there: then it was made for it. */
export function removeFolder(folder: string): void {
  const around = path.dirname(folder)
  if (!fs.existsSync(around)) return
  const held = enterFolder(around)
  try {
    removeIn(held, path.basename(folder))
  } finally {
    held.close()
  }
  if (fs.readdirSync(around).length === 0) fs.rmdirSync(around)
}
