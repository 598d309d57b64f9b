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

/**
 * Returns the real path of a project's file. Refuses a path inside the project whose links lead out of it or into
 * `.git`: a cloned repository can contain such links.
 */
export function resolveInProject(cwd: string, file: string): string {
  const folder = fs.realpathSync(cwd)
  const requested = path.resolve(folder, file)
  const real = fs.realpathSync(requested)
  const root = listFoldersToRoot(folder).at(-1) ?? folder
  if (!isWithin(root, requested)) return real // The user has named a file outside of the project.
  if (!isWithin(root, real)) throw new Error('it is a link that leads out of the project')
  if (path.relative(root, real).split(path.sep).includes('.git')) throw new Error('it lies in .git')
  return real
}

function isWithin(folder: string, file: string): boolean {
  return file.startsWith(folder.endsWith('/') ? folder : `${folder}/`)
}
