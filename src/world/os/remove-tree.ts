import fs from 'node:fs'
import path from 'node:path'
import { hasCode } from '../../lib/trouble.ts'
import { type Folder, openFolder, openStraight } from './open-folder.ts'
import { randomHex } from './random-hex.ts'

/** So many folders are held at once; what lies deeper is moved up first. */
const DEEPEST = 64

/**
 * Removes a file, or a folder with all that is in it, where others may write at the same time. Each folder is held while it is
 * emptied, and no link is followed: a folder that is swapped for a link keeps nobody from their files. No part of the path may
 * be a link; where one is, nothing is done.
 */
export function removeTree(place: string): void {
  const parent = openStraight(path.dirname(place))
  if (parent === null) return
  try {
    removeIn(parent, path.basename(place))
  } finally {
    parent.close()
  }
}

/** The same, of something in a folder that is held. */
export function removeIn(parent: Folder, name: string): void {
  removeEntry({ top: parent, parent, depth: 0 }, Buffer.from(name))
}

/**
 * Removes a file below a folder; what is a folder by now stays. False when it is not there, or a link is on the way. The path
 * is in bytes, because its names need not be text.
 */
export function unlinkBelow(top: string, file: Buffer): boolean {
  return withParent(top, file, unlinked) ?? false
}

/** Removes a folder below another one if nothing is in it. */
export function removeEmptyBelow(top: string, folder: Buffer): void {
  withParent(top, folder, removedEmpty)
}

/** Does something to a name in the folder that it lies in, which is held; undefined when a link is on the way. */
function withParent<T>(top: string, file: Buffer, deed: (place: Buffer) => T): T | undefined {
  const names = file.toString('latin1').split('/')
  const last = Buffer.from(names.pop() ?? '', 'latin1')
  let folder = openStraight(top)
  try {
    for (const name of names) {
      if (folder === null) return undefined
      const next = openFolder(inside(folder, Buffer.from(name, 'latin1')))
      folder.close()
      folder = next
    }
    return folder === null ? undefined : deed(inside(folder, last))
  } finally {
    folder?.close()
  }
}

interface Spot {
  readonly top: Folder
  readonly parent: Folder
  readonly depth: number
}

function removeEntry(spot: Spot, name: Buffer): void {
  // Whoever swaps it all the time makes us give up, and gains nothing.
  for (let tries = 0; tries < 20; tries++) {
    if (unlinked(inside(spot.parent, name)) || removedFolder(spot, name)) return
  }
  throw new Error(`${name.toString()} is swapped while it is removed`)
}

/** False when it is a folder. */
function unlinked(place: Buffer): boolean {
  const stat = fs.lstatSync(place, { throwIfNoEntry: false })
  if (stat === undefined) return true
  if (stat.isDirectory()) return false
  try {
    fs.unlinkSync(place)
    return true
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return true
    // macOS answers EPERM for a folder.
    if (hasCode(cause, 'EISDIR') || isFolder(place)) return false
    throw cause
  }
}

function isFolder(place: Buffer): boolean {
  return fs.lstatSync(place, { throwIfNoEntry: false })?.isDirectory() === true
}

/** False when it is no folder by now, or somebody has put something into it meanwhile. */
function removedFolder({ top, parent, depth }: Spot, name: Buffer): boolean {
  const place = inside(parent, name)
  if (depth >= DEEPEST) {
    const nearer = randomHex(8)
    fs.renameSync(place, top.at(nearer))
    removeEntry({ top, parent: top, depth: 0 }, Buffer.from(nearer))
    return true
  }
  const folder = openFolder(place)
  if (folder === null) return false
  try {
    for (const entry of fs.readdirSync(folder.at('.'), { encoding: 'buffer' })) {
      removeEntry({ top, parent: folder, depth: depth + 1 }, entry)
    }
  } finally {
    folder.close()
  }
  return removedEmpty(place)
}

function removedEmpty(place: Buffer): boolean {
  try {
    fs.rmdirSync(place)
    return true
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return true
    if (hasCode(cause, 'ENOTEMPTY', 'EEXIST', 'ENOTDIR')) return false
    throw cause
  }
}

function inside(folder: Folder, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(folder.at('')), name])
}
