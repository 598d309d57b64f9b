import fs from 'node:fs'
import { hasCode } from '../../lib/trouble.ts'

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = fs.constants
const hasProc = fs.existsSync('/proc/self/fd')

/**
 * A folder that is held on to: what is reached through it is in that very folder, even when somebody puts a link in its place
 * meanwhile. Whoever works in a project may be confined to it; we are not, and must not be led out of it.
 */
export interface Folder {
  /** The path of something in it. */
  at(name: string): string
  close(): void
}

/** Opens a folder that is one, and no link to one; null when there is none, or something else. */
export function openFolder(path: string): Folder | null {
  try {
    const fd = fs.openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    // Without /proc, as on macOS, there is no such path: then links are looked for, but one put there this moment is not seen.
    const root = hasProc ? `/proc/self/fd/${fd}` : path
    return { at: name => `${root}/${name}`, close: () => fs.closeSync(fd) }
  } catch (cause) {
    if (hasCode(cause, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EMLINK')) return null
    throw cause
  }
}
