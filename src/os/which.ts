import fs from 'node:fs'
import path from 'node:path'

/** Returns the absolute path of a program, found as a shell finds it. */
export function which(program: string, env: { readonly PATH?: string | undefined }, cwd: string): string | undefined {
  if (program === '') return undefined
  if (program.includes('/')) return resolveExecutable(path.resolve(cwd, program))
  for (const folder of (env.PATH ?? '/usr/local/bin:/usr/bin:/bin').split(':')) {
    const found = resolveExecutable(path.resolve(cwd, folder === '' ? '.' : folder, program))
    if (found !== undefined) return found
  }
  return undefined
}

function resolveExecutable(file: string): string | undefined {
  try {
    fs.accessSync(file, fs.constants.X_OK)
    return fs.statSync(file).isFile() ? file : undefined
  } catch {
    return undefined // The file is missing or not executable for this user: the search continues.
  }
}
