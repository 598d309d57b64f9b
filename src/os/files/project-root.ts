import fs from 'node:fs'
import path from 'node:path'

/** This folder, which is no link, and those above it, as far as its repository goes; it alone where there is none. */
export function listFoldersToRoot(folder: string): [string, ...string[]] {
  const folders: [string, ...string[]] = [folder]
  for (let at = folder; ; at = path.dirname(at)) {
    if (at !== folder) folders.push(at)
    if (fs.existsSync(path.join(at, '.git'))) return folders
    if (at === path.dirname(at)) return [folder]
  }
}

/**
 * Where a file of a project really lies. Refuses one that seems to lie in the project and leads out of it by a link, or into
 * what is git's: a repository can bring such a link along.
 */
export function resolveInProject(cwd: string, file: string): string {
  const folder = fs.realpathSync(cwd)
  const requested = path.resolve(folder, file)
  const real = fs.realpathSync(requested)
  const root = listFoldersToRoot(folder).at(-1) ?? folder
  if (!isWithin(root, requested)) return real // Its user has named a file elsewhere.
  if (!isWithin(root, real)) throw new Error('it is a link that leads out of the project')
  if (path.relative(root, real).split(path.sep).includes('.git')) throw new Error('it lies in .git')
  return real
}

function isWithin(folder: string, file: string): boolean {
  return file.startsWith(folder.endsWith('/') ? folder : `${folder}/`)
}
