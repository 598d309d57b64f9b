import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const here = path.dirname(fileURLToPath(import.meta.url))

/** A file that ships with us: beside the bundle, or in the source tree when run from there. */
export function asset(name: string): string {
  const bundled = path.join(here, name)
  return fs.existsSync(bundled) ? bundled : path.join(here, '..', '..', 'shim', name)
}

/** The folder of our package, with its own node_modules when it was not hoisted. */
export function packageRoot(): string {
  return fs.existsSync(path.join(here, 'main.cjs')) ? path.dirname(here) : path.join(here, '..', '..', '..')
}

/** The program that is running, as an argv to start it again. */
export function selfArgv(): string[] {
  return [process.execPath, asset('main.cjs')]
}
