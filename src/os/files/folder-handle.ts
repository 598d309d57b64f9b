import fs from 'node:fs'
import path from 'node:path'
import { hasCode } from '../../lib/errors.ts'

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = fs.constants
const hasProc = fs.existsSync('/proc/self/fd')
/** Linux: opens a folder that this user may only pass through. Node has no constant for it. */
const O_PATH = 0o10000000

/**
 * An open folder: each path from `at` leads into this very folder, even if somebody meanwhile replaces it with a link.
 * An agent may be confined to its project; oneshot is not, so a link must not lead it out of the project.
 */
export interface FolderHandle {
  /** Returns the path of an entry in the folder. */
  at(name: string): string
  stat(): fs.Stats
  close(): void
}

/** Opens a folder that is no link; null if there is none. Follows links in the path before it. */
export function openFolder(folderPath: string | Buffer): FolderHandle | null {
  return nullIfMissing(() => openHandle(folderPath, O_RDONLY | O_DIRECTORY | O_NOFOLLOW))
}

/** Opens the folder to which a path leads at this moment. */
export function openFolderFollowingLinks(folderPath: string): FolderHandle {
  return openHandle(folderPath, (hasProc ? O_PATH : O_RDONLY) | O_DIRECTORY)
}

/** Opens a folder by a path without any link; null if the folder does not exist or the path contains a link. */
export function openFolderWithoutLinks(folderPath: string): FolderHandle | null {
  if (!hasProc) return hasNoLinks(folderPath) ? openFolder(folderPath) : null
  return (
    openPlainPath(folderPath) ??
    walkPath(folderPath, (parent, name) =>
      nullIfMissing(() => openHandle(parent.at(name), O_PATH | O_DIRECTORY | O_NOFOLLOW)),
    )
  )
}

/**
 * Like `openFolderWithoutLinks`, but creates missing folders, private to this user. Throws if the path contains a link.
 */
export function createFolderWithoutLinks(folderPath: string): FolderHandle {
  const folder = hasProc ? (openPlainPath(folderPath) ?? walkPath(folderPath, openOrCreate)) : createByPath(folderPath)
  if (folder === null) throw new Error(`${folderPath} is not used: it is no folder, or a link leads to it`)
  return folder
}

/** Opens a folder below another one and creates it if needed; null if something else has that name. */
function openOrCreate(parent: FolderHandle, name: string): FolderHandle | null {
  const found = openFolder(parent.at(name))
  if (found !== null || fs.lstatSync(parent.at(name), { throwIfNoEntry: false }) !== undefined) return found
  try {
    fs.mkdirSync(parent.at(name), { mode: 0o700 })
  } catch (cause) {
    if (!hasCode(cause, 'EEXIST')) throw cause // Another process created it at the same moment.
  }
  return openFolder(parent.at(name))
}

/**
 * Opens a folder by its whole path at once, and asks the kernel for the path of the opened folder. The answer is the
 * same path, byte for byte, only if the path contains no link. Null in all other cases: the caller then walks the path.
 */
function openPlainPath(folderPath: string): FolderHandle | null {
  try {
    const fd = fs.openSync(folderPath, O_PATH | O_DIRECTORY | O_NOFOLLOW)
    try {
      const place = fs.readlinkSync(`/proc/self/fd/${fd}`, 'buffer')
      if (place.equals(Buffer.from(folderPath))) return handleOf(fd, folderPath)
    } catch {
      // The kernel does not say where it lies.
    }
    fs.closeSync(fd)
    return null
  } catch {
    return null
  }
}

/** Opens a path part by part, each relative to the one before. */
function walkPath(
  folderPath: string,
  step: (parent: FolderHandle, name: string) => FolderHandle | null,
): FolderHandle | null {
  let folder: FolderHandle | null = openHandle('/', O_PATH | O_DIRECTORY)
  for (const name of folderPath.split('/').filter(part => part !== '')) {
    const parent: FolderHandle = folder
    try {
      folder = enterOrStep(parent, name, step)
    } finally {
      parent.close()
    }
    if (folder === null) return null
  }
  return folder
}

/** Enters an existing folder with O_PATH, which needs no permission to read it; else runs `step`. */
function enterOrStep(
  parent: FolderHandle,
  name: string,
  step: (parent: FolderHandle, name: string) => FolderHandle | null,
): FolderHandle | null {
  return nullIfMissing(() => openHandle(parent.at(name), O_PATH | O_DIRECTORY | O_NOFOLLOW)) ?? step(parent, name)
}

function openHandle(folderPath: string | Buffer, flags: number): FolderHandle {
  return handleOf(fs.openSync(folderPath, flags), folderPath)
}

function handleOf(fd: number, folderPath: string | Buffer): FolderHandle {
  const root = hasProc ? `/proc/self/fd/${fd}` : handlePath(fd, folderPath.toString())
  return { at: name => `${root}/${name}`, stat: () => fs.fstatSync(fd), close: () => fs.closeSync(fd) }
}

/**
 * On a system without /proc: macOS opens a folder by its number, even after a move. If that fails too, the path
 * remains, and the earlier check for links misses a link that somebody creates at the same moment.
 */
function handlePath(fd: number, folderPath: string): string {
  const { dev, ino } = fs.fstatSync(fd)
  const byNumber = `/.vol/${dev}/${ino}`
  return fs.statSync(byNumber, { throwIfNoEntry: false })?.ino === ino ? byNumber : folderPath
}

function hasNoLinks(folderPath: string): boolean {
  try {
    return fs.realpathSync(folderPath) === path.resolve(folderPath)
  } catch (cause) {
    if (hasCode(cause, 'ENOENT', 'ENOTDIR', 'ELOOP')) return false
    throw cause
  }
}

function createByPath(folderPath: string): FolderHandle | null {
  fs.mkdirSync(folderPath, { recursive: true, mode: 0o700 })
  return openFolderWithoutLinks(folderPath)
}

function nullIfMissing(open: () => FolderHandle): FolderHandle | null {
  try {
    return open()
  } catch (cause) {
    if (hasCode(cause, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EMLINK')) return null
    throw cause
  }
}
