import fs from 'node:fs'
import path from 'node:path'

/**
 * Returns this folder, which is no link, and its parents up to the root of its repository; only the folder itself
 * outside of a repository.
 */
export function listFoldersToRoot(folder: string): [string, ...string[]] {
  const folders: [string, ...string[]] = [folder]
  for (let at = folder; ; at = path.dirname(at)) {
    if (at !== folder) folders.push(at)
    if (fs.existsSync(path.join(at, '.git'))) return folders
    if (at === path.dirname(at)) return [folder]
  }
}
