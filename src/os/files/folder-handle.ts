import fs from 'node:fs'
import path from 'node:path'
import { hasCode } from '../../lib/errors.ts'

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = fs.constants
const hasProc = fs.existsSync('/proc/self/fd')
/** Linux: holds a folder that we may only pass through. Node does not name it. */
const O_PATH = 0o10000000

/**
 * A folder that is held on to: each path from `at` leads into that very folder, even when somebody puts a link in its place
 * meanwhile. An agent may be confined to its project; we are not, and must not be led out of it.
 */
export interface FolderHandle {
  /** The path of something in it. */
  at(name: string): string
  stat(): fs.Stats
  close(): void
}

/** Opens a folder that is no link; null when there is none, or something else is there. Links on the way to it are followed. */
export function openFolder(folderPath: string | Buffer): FolderHandle | null {
  return nullIfMissing(() => openHandle(folderPath, O_RDONLY | O_DIRECTORY | O_NOFOLLOW))
}

/** Opens a folder wherever its path leads at this moment, and stays there. */
export function openFolderFollowingLinks(folderPath: string): FolderHandle {
  return openHandle(folderPath, (hasProc ? O_PATH : O_RDONLY) | O_DIRECTORY)
}

/** Opens a folder by a path of which no part is a link; null when there is none, or a link is on the way. */
export function openFolderWithoutLinks(folderPath: string): FolderHandle | null {
  if (!hasProc) return hasNoLinks(folderPath) ? openFolder(folderPath) : null
  return walkPath(folderPath, (parent, name) =>
    nullIfMissing(() => openHandle(parent.at(name), O_PATH | O_DIRECTORY | O_NOFOLLOW)),
  )
}

/** The same, for a folder of ours: parts that are missing are made, for nobody else to read. Throws when a link is on the way. */
export function createFolderWithoutLinks(folderPath: string): FolderHandle {
  const folder = hasProc ? walkPath(folderPath, openOrCreate) : createByPath(folderPath)
  if (folder === null) throw new Error(`${folderPath} is not used: it is no folder, or a link leads to it`)
  return folder
}

/** Opens a folder below another one, and makes it where there is none; null when something else is there. */
function openOrCreate(parent: FolderHandle, name: string): FolderHandle | null {
  const found = openFolder(parent.at(name))
  if (found !== null || fs.lstatSync(parent.at(name), { throwIfNoEntry: false }) !== undefined) return found
  try {
    fs.mkdirSync(parent.at(name), { mode: 0o700 })
  } catch (cause) {
    if (!hasCode(cause, 'EEXIST')) throw cause // Another process made it in the same moment.
  }
  return openFolder(parent.at(name))
}

/** Opens a path part by part, each from the one before. */
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

/** A folder that is there need not be readable for us, only one that we make or write to. */
function enterOrStep(
  parent: FolderHandle,
  name: string,
  step: (parent: FolderHandle, name: string) => FolderHandle | null,
): FolderHandle | null {
  return nullIfMissing(() => openHandle(parent.at(name), O_PATH | O_DIRECTORY | O_NOFOLLOW)) ?? step(parent, name)
}

function openHandle(folderPath: string | Buffer, flags: number): FolderHandle {
  const fd = fs.openSync(folderPath, flags)
  const root = hasProc ? `/proc/self/fd/${fd}` : handlePath(fd, folderPath.toString())
  return { at: name => `${root}/${name}`, stat: () => fs.fstatSync(fd), close: () => fs.closeSync(fd) }
}

/**
 * Without /proc: macOS reaches a folder by its number, wherever it is moved. Where that does not work either, links are looked
 * for, but one that is put there in the same moment is not seen.
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
