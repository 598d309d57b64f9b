import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import zlib from 'node:zlib'
import { hasCode } from '../../lib/errors.ts'
import { readRegularFile } from '../../os/files/file-io.ts'
import { type FolderHandle, openFolder, openFolderWithoutLinks } from '../../os/files/folder-handle.ts'
import type { Repository } from './repository.ts'

/** The content of a commit whose author is oneshot. */
export interface NewCommit {
  readonly tree: string
  readonly parents: readonly string[]
  /** Seconds since 1970. */
  readonly seconds: number
  readonly message: string
}

interface Place {
  readonly repository: Pick<Repository, 'commonDir'>
  /** The umask for the new files. */
  readonly umask: number
}

const AUTHOR = 'oneshot <oneshot@localhost>'
/** A repository that several users share marks its folders with this bit, and git gives each object more permissions. */
const SETGID = 0o2000

/**
 * Writes a commit as git would, without a git process, and returns its id. Returns null if git has to write it: the
 * users of the repository share it, the objects lie elsewhere, or a parent is not a readable loose object. The caller
 * knows that the tree exists, and syncs the commit.
 */
export function writeLooseCommit(place: Place, commit: NewCommit, checkedParents: readonly string[]): string | null {
  const areThere = checkedParents.every(parent => readLooseObject(place.repository, parent)?.type === 'commit')
  if (!areThere) return null
  const { tree, parents, seconds, message } = commit
  const stamp = `${AUTHOR} ${seconds} +0000`
  const headers = [`tree ${tree}`, ...parents.map(parent => `parent ${parent}`), `author ${stamp}`]
  const text = `${headers.join('\n')}\ncommitter ${stamp}\n\n${message}${message.endsWith('\n') ? '' : '\n'}`
  const content = Buffer.from(text)
  const object = Buffer.concat([Buffer.from(`commit ${content.length}\0`), content])
  const id = hashObject(object, tree.length)
  return writeObject(place, id, zlib.deflateSync(object)) ? id : null
}

/** Bytes; a larger object is not worth the memory. */
const MAX_OBJECT_SIZE = 4 * 1_048_576

/** Returns an object that has a file of its own; null for any other object, and for a file with a wrong content. */
export function readLooseObject(
  { commonDir }: Pick<Repository, 'commonDir'>,
  id: string,
): { readonly type: string; readonly content: Buffer } | null {
  try {
    const { content: packed } = readRegularFile(objectFile(commonDir, id), MAX_OBJECT_SIZE)
    const object = zlib.inflateSync(packed, { maxOutputLength: MAX_OBJECT_SIZE })
    const end = object.indexOf(0)
    const [type = '', size] = object.subarray(0, end).toString('latin1').split(' ')
    const content = object.subarray(end + 1)
    return Number(size) === content.length && hashObject(object, id.length) === id ? { type, content } : null
  } catch {
    return null // The object is in a pack, is too large, or is broken: git knows more.
  }
}

/** Returns the file of an object that is not in a pack. */
export function objectFile(commonDir: string, id: string): string {
  return path.join(commonDir, 'objects', id.slice(0, 2), id.slice(2))
}

function hashObject(object: Buffer, idLength: number): string {
  return crypto
    .createHash(idLength === 64 ? 'sha256' : 'sha1')
    .update(object)
    .digest('hex')
}

/** Returns false if the objects folder is not an ordinary one. */
function writeObject({ repository, umask }: Place, id: string, bytes: Buffer): boolean {
  const objects = openFolderWithoutLinks(path.join(repository.commonDir, 'objects'))
  if (objects === null) return false
  try {
    if ((fs.statSync(objects.at('.')).mode & SETGID) !== 0) return false
    const folder = openOrCreate(objects, id.slice(0, 2), 0o777 & ~umask)
    if (folder === null) return false
    try {
      writeFile(folder, id.slice(2), bytes, 0o444 & ~umask)
    } finally {
      folder.close()
    }
    return true
  } finally {
    objects.close()
  }
}

function openOrCreate(objects: FolderHandle, name: string, mode: number): FolderHandle | null {
  const found = openFolder(objects.at(name))
  if (found !== null) return found
  try {
    fs.mkdirSync(objects.at(name))
    fs.chmodSync(objects.at(name), mode)
  } catch (cause) {
    if (!hasCode(cause, 'EEXIST')) throw cause // Another process created it at the same moment.
  }
  return openFolder(objects.at(name))
}

/**
 * Writes an existing object again: its file may be broken, and `git gc` keeps a new file. `git gc` also removes a
 * leftover temporary file, by its name.
 */
function writeFile(folder: FolderHandle, name: string, bytes: Buffer, mode: number): void {
  const temporary = `tmp_obj_${crypto.randomBytes(6).toString('hex')}`
  try {
    const fd = fs.openSync(folder.at(temporary), 'wx', 0o600)
    try {
      fs.writeFileSync(fd, bytes)
      fs.fchmodSync(fd, mode)
    } finally {
      fs.closeSync(fd)
    }
    fs.renameSync(folder.at(temporary), folder.at(name))
  } catch (cause) {
    fs.rmSync(folder.at(temporary), { force: true })
    throw cause
  }
}
