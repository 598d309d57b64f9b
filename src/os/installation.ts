import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const ownFolder = path.dirname(fileURLToPath(import.meta.url))

/** A file that ships with us: beside the bundle, or in the source tree when run from there. */
export function installedFile(name: string): string {
  const bundled = path.join(ownFolder, name)
  return fs.existsSync(bundled) ? bundled : path.join(ownFolder, '..', 'shim', name)
}

/** The folder of our package, with its own node_modules when it was not hoisted. */
export function packageRoot(): string {
  return fs.existsSync(path.join(ownFolder, 'main.cjs')) ? path.dirname(ownFolder) : path.join(ownFolder, '..', '..')
}

/** The program that is running, as an argv to start it again. */
export function selfArgv(): string[] {
  return [process.execPath, installedFile('main.cjs')]
}
