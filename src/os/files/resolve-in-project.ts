import fs from 'node:fs'
import path from 'node:path'
import { listFoldersToRoot } from './project-root.ts'

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
