import fs from 'node:fs'
import path from 'node:path'
import { hasCode } from '../../lib/errors.ts'
import { type FolderHandle, openFolder, openFolderWithoutLinks } from './folder-handle.ts'
import { randomHex } from './file-io.ts'

/** Number of folders that are open at once; a deeper folder moves to the top first. */
const MAX_DEPTH = 64

/**
 * Removes a file or a folder with its content, even if others write to it at the same time. Keeps each folder open
 * while it empties it and follows no link: if somebody swaps a folder for a link, the link's target loses nothing. Does
 * nothing if the path contains a link.
 */
export function removeTree(target: string): void {
  const parent = openFolderWithoutLinks(path.dirname(target))
  if (parent === null) return
  try {
    removeEntryIn(parent, path.basename(target))
  } finally {
    parent.close()
  }
}

/** Like `removeTree`, for an entry of an open folder. */
export function removeEntryIn(parent: FolderHandle, name: string): void {
  removeEntry({ top: parent, parent, depth: 0 }, Buffer.from(name))
}

/**
 * Removes a file below a folder, but not a folder of that name. Returns false if the file does not exist or the path
 * contains a link. The path is in bytes, because names need not be valid text.
 */
export function unlinkBelow(top: string, file: Buffer): boolean {
  return withParent(top, file, tryUnlink) ?? false
}

/** Removes a folder below another one if it is empty. */
export function removeEmptyBelow(top: string, folder: Buffer): void {
  withParent(top, folder, tryRemoveEmpty)
}

/** Runs an action on an entry while its parent folder is open. Returns undefined if the path contains a link. */
function withParent<T>(top: string, file: Buffer, action: (entryPath: Buffer) => T): T | undefined {
  const names = file.toString('latin1').split('/')
  const last = Buffer.from(names.pop() ?? '', 'latin1')
  let folder = openFolderWithoutLinks(top)
  try {
    for (const name of names) {
      if (folder === null) return undefined
      const next = openFolder(childPath(folder, Buffer.from(name, 'latin1')))
      folder.close()
      folder = next
    }
    return folder === null ? undefined : action(childPath(folder, last))
  } finally {
    folder?.close()
  }
}

interface RemovalPosition {
  readonly top: FolderHandle
  readonly parent: FolderHandle
  readonly depth: number
}

function removeEntry(position: RemovalPosition, name: Buffer): void {
  // A process that keeps swapping the entry makes this function give up, and gains nothing.
  for (let tries = 0; tries < 20; tries++) {
    if (tryUnlink(childPath(position.parent, name)) || tryRemoveFolder(position, name)) return
  }
  throw new Error(`${name.toString()} is swapped while it is removed`)
}

/** Returns false if the entry is a folder. */
function tryUnlink(entryPath: Buffer): boolean {
  const stat = fs.lstatSync(entryPath, { throwIfNoEntry: false })
  if (stat === undefined) return true
  if (stat.isDirectory()) return false
  try {
    fs.unlinkSync(entryPath)
    return true
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return true
    // macOS answers EPERM for a folder.
    if (hasCode(cause, 'EISDIR') || isFolder(entryPath)) return false
    throw cause
  }
}

function isFolder(entryPath: Buffer): boolean {
  return fs.lstatSync(entryPath, { throwIfNoEntry: false })?.isDirectory() === true
}

/** Returns false if the entry is no folder any more, or somebody has put something into it meanwhile. */
function tryRemoveFolder({ top, parent, depth }: RemovalPosition, name: Buffer): boolean {
  const entryPath = childPath(parent, name)
  if (depth >= MAX_DEPTH) {
    const movedName = randomHex(8)
    fs.renameSync(entryPath, top.at(movedName))
    removeEntry({ top, parent: top, depth: 0 }, Buffer.from(movedName))
    return true
  }
  const folder = openFolder(entryPath)
  if (folder === null) return false
  try {
    for (const entry of fs.readdirSync(folder.at('.'), { encoding: 'buffer' })) {
      removeEntry({ top, parent: folder, depth: depth + 1 }, entry)
    }
  } finally {
    folder.close()
  }
  return tryRemoveEmpty(entryPath)
}

function tryRemoveEmpty(entryPath: Buffer): boolean {
  try {
    fs.rmdirSync(entryPath)
    return true
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return true
    if (hasCode(cause, 'ENOTEMPTY', 'EEXIST', 'ENOTDIR')) return false
    throw cause
  }
}

function childPath(folder: FolderHandle, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(folder.at('')), name])
}
