import fs from 'node:fs'
import path from 'node:path'
import { hasCode } from '../../lib/errors.ts'
import { type FolderHandle, openFolder, openFolderWithoutLinks } from './folder-handle.ts'
import { randomHex } from './file-io.ts'

/** So many folders are held at once; what lies deeper is moved up first. */
const MAX_DEPTH = 64

/**
 * Removes a file, or a folder with all that is in it, where others may write at the same time. Each folder is held while it is
 * emptied, and no link is followed: a folder that is swapped for a link keeps nobody from their files. No part of the path may
 * be a link; where one is, nothing is done.
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

/** The same, of something in a folder that is held. */
export function removeEntryIn(parent: FolderHandle, name: string): void {
  removeEntry({ top: parent, parent, depth: 0 }, Buffer.from(name))
}

/**
 * Removes a file below a folder; what is a folder by now stays. False when it is not there, or a link is on the way. The path
 * is in bytes, because its names need not be text.
 */
export function unlinkBelow(top: string, file: Buffer): boolean {
  return withParent(top, file, tryUnlink) ?? false
}

/** Removes a folder below another one if nothing is in it. */
export function removeEmptyBelow(top: string, folder: Buffer): void {
  withParent(top, folder, tryRemoveEmpty)
}

/** Does something to a name in the folder that it lies in, which is held; undefined when a link is on the way. */
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
  // Whoever swaps it all the time makes us give up, and gains nothing.
  for (let tries = 0; tries < 20; tries++) {
    if (tryUnlink(childPath(position.parent, name)) || tryRemoveFolder(position, name)) return
  }
  throw new Error(`${name.toString()} is swapped while it is removed`)
}

/** False when it is a folder. */
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

/** False when it is no folder by now, or somebody has put something into it meanwhile. */
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
