import fs from 'node:fs'
import path from 'node:path'

/** The places that decide where a local address leads, and where it must not lead. */
export interface AddressBase {
  /** The folder that git runs in. */
  readonly cwd: string
  readonly home: string
  /** Folders in which others can write what git runs and reads at the other end. */
  readonly folders: readonly string[]
}

/** git also tries these names for a repository. */
const REPOSITORY_SUFFIXES = ['', '/.git', '.git', '.git/.git'] as const

/** Returns true if git would take an address for a repository in one of the folders. */
export function isInside(url: string, { cwd, home, folders }: AddressBase): boolean {
  const file = localPath(url)
  if (file === null) return false
  // git would search the home of another user.
  if (/^~[^/]/.test(file)) return true
  const place = file.startsWith('~') ? path.join(home, file.slice(1)) : path.resolve(cwd, file)
  const places = REPOSITORY_SUFFIXES.flatMap(suffix => [`${place}${suffix}`, realPath(`${place}${suffix}`)])
  const forbidden = folders.flatMap(folder => [folder, realPath(folder)])
  return places.some(one => forbidden.some(folder => `${one}/`.startsWith(`${folder}/`)))
}

/** Returns an address that means the same in each folder. */
export function absoluteAddress(url: string, cwd: string): string {
  const file = localPath(url)
  return file === null || file.startsWith('~') ? url : path.resolve(cwd, file)
}

/** Returns the path of a local address; null for another machine or a helper. git decodes before it cuts off the host. */
function localPath(url: string): string | null {
  if (/^file:\/\//i.test(url)) return percentDecode(url.slice('file://'.length)).replace(/^[^/]*/, '')
  return /^[^/]*:/.test(url) ? null : url
}

/** Decodes a part of an address as git does: a percent sign without two digits is literal. */
export function percentDecode(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, run => Buffer.from(run.replaceAll('%', ''), 'hex').toString())
}

function realPath(place: string): string {
  try {
    return fs.realpathSync.native(place)
  } catch {
    return place // It does not exist.
  }
}
