import fs from 'node:fs'
import path from 'node:path'

const ownFolder = import.meta.dirname

/** Returns the path of a file that ships with oneshot: beside the bundle, or in the source tree. */
export function installedFile(name: string): string {
  const bundled = path.join(ownFolder, name)
  return fs.existsSync(bundled) ? bundled : path.join(ownFolder, '..', 'shim', name)
}

/** Returns the folder of oneshot's package, which has its own node_modules unless npm hoisted them. */
export function packageRoot(): string {
  return fs.existsSync(path.join(ownFolder, 'main.cjs')) ? path.dirname(ownFolder) : path.join(ownFolder, '..', '..')
}

/** Returns the argv that starts the running program again. */
export function selfArgv(): string[] {
  return [process.execPath, installedFile('main.cjs')]
}
