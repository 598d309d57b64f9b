import fs from 'node:fs'
import path from 'node:path'
import { Trouble, hasCode } from '../../lib/errors.ts'
import { formatCommandLine } from '../../lib/text/shell-words.ts'
import { readRegularFile, writeDurably, writeTemporary } from '../../os/files/file-io.ts'
import { createFolderWithoutLinks } from '../../os/files/folder-handle.ts'
import { resolveInProject } from '../../os/files/project-root.ts'
import type { ListBackup } from '../../ports/task-source.ts'
import { MAX_LIST_SIZE } from './file-source.ts'

/** Keeps the copy of a list in the file `copy`. `file`: the list, relative to a folder; null for a list without a file. */
export function fileListBackup(file: string | null, copy: string): ListBackup {
  if (file === null) return { save: () => undefined, restore: () => false, restoreCommand: () => null }
  return {
    save: cwd => backUpList(cwd, file, copy),
    restore: cwd => isMissing(path.resolve(cwd, file)) && restoreList(cwd, file, copy),
    restoreCommand: () => (fs.existsSync(copy) ? formatCommandLine(['cp', copy, file]) : null),
  }
}

function isMissing(file: string): boolean {
  return fs.lstatSync(file, { throwIfNoEntry: false }) === undefined
}

/** Keeps a copy of a list, to restore it if an agent deletes it. Writes nothing if the copy is up to date. */
function backUpList(cwd: string, file: string, copy: string): void {
  try {
    const { content, mode } = readRegularFile(resolveInProject(cwd, file), MAX_LIST_SIZE)
    if (hasSameContent(copy, content)) return
    fs.mkdirSync(path.dirname(copy), { recursive: true, mode: 0o700 })
    writeDurably(copy, content, mode & 0o777)
  } catch {
    // The list vanished, or the disk is full: the loop continues without a copy.
  }
}

function hasSameContent(copy: string, content: Buffer): boolean {
  try {
    return readRegularFile(copy, MAX_LIST_SIZE).content.equals(content)
  } catch {
    return false // There is no copy yet.
  }
}

/**
 * Restores the list from the copy if nothing is in its place and no link is in its path; returns false if it did not.
 */
function restoreList(cwd: string, file: string, copy: string): boolean {
  try {
    return fs.existsSync(copy) && writeRestored(cwd, file, copy)
  } catch (cause) {
    throw new Trouble(`bringing ${file} back`, cause)
  }
}

function writeRestored(cwd: string, file: string, copy: string): boolean {
  const { content, mode } = readRegularFile(copy, MAX_LIST_SIZE)
  const named = path.resolve(fs.realpathSync(cwd), file)
  const folder = createFolderWithoutLinks(path.dirname(named))
  try {
    const draft = writeTemporary(folder, path.basename(named), content, { mode, isDurable: true })
    try {
      fs.linkSync(folder.at(draft), folder.at(path.basename(named)))
      return true
    } catch (cause) {
      if (hasCode(cause, 'EEXIST')) return false
      throw cause
    } finally {
      fs.rmSync(folder.at(draft), { force: true })
    }
  } finally {
    folder.close()
  }
}
