import type { Git } from '../../git.ts'
import { isObjectId, resolveFromFiles } from '../../resolve-object-without-git.ts'

/** Returns the commit of a name, which is a branch first of all; null if there is none. */
export async function resolveCommit(git: Git, name: string): Promise<string | null> {
  // Nobody can mean a branch by the id of an object.
  if (isObjectId(name)) return (await resolveObjects(git, [`${name}^{commit}`]))[0] ?? null
  const fromFiles = git.requiredDirs && resolveFromFiles(git.requiredDirs, `refs/heads/${name}^{commit}`)
  if (fromFiles) return fromFiles
  const [branch = null, other = null] = await resolveObjects(git, [`refs/heads/${name}^{commit}`, `${name}^{commit}`])
  return branch ?? other
}

/** Resolves these names in one call; returns null for each missing object. */
export async function resolveObjects(git: Git, names: readonly string[]): Promise<(string | null)[]> {
  const dirs = git.requiredDirs
  const fromFiles = dirs === undefined ? [] : names.map(name => resolveFromFiles(dirs, name))
  if (dirs !== undefined && fromFiles.every(id => id !== null)) return fromFiles
  const input = names.map(name => `${name.replaceAll('\n', ' ')}\n`).join('')
  const output = await git.runForLine(['cat-file', '--batch-check=%(objectname)'], { input })
  return output.split('\n').map(line => (/^[0-9a-f]{40,64}$/.test(line) ? line : null))
}

/** Returns true if `commit` is in the history of `other`. */
export async function isAncestor(git: Git, commit: string, other: string): Promise<boolean> {
  const { code } = await git.tryRun(['merge-base', '--is-ancestor', commit, other])
  return code === 0
}
