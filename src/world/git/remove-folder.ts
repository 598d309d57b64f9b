import fs from 'node:fs'
import path from 'node:path'

/** Removes what we have noted of a place, and the folder around it if nothing else is in there: then it was made for it. */
export function removeFolder(folder: string): void {
  fs.rmSync(folder, { recursive: true, force: true })
  const around = path.dirname(folder)
  if (fs.existsSync(around) && fs.readdirSync(around).length === 0) fs.rmdirSync(around)
}
