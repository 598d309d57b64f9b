import path from 'node:path'
import { type RawPath, rawPath } from '../../../lib/raw-path.ts'

/** The views of sessions, and worktrees: no work, wherever they lie. */
const VIEWS = '.agent'

/** Whether a path, from the top of the working tree, does not count. */
export type IsAside = (path: RawPath) => boolean

/** `apart`: files or folders, from this folder of the working tree. */
export function asideOf(top: string, folder: string, apart: readonly string[]): IsAside {
  const listed = apart.map(name => rawPath(Buffer.from(path.relative(top, path.resolve(folder, name)))))
  return file => isView(file) || listed.some(one => file === one || file.startsWith(`${one}/`))
}

export function isView(file: RawPath): boolean {
  return file.split('/').includes(VIEWS)
}
