import fs from 'node:fs'
import path from 'node:path'
import { Trouble, hasCode } from '../../lib/errors.ts'
import { formatCommandLine } from '../../lib/text/shell-words.ts'
import { readRegularFile, rewriteDurably, writeDurably, writeTemporary } from '../../os/files/file-io.ts'
import { createFolderWithoutLinks } from '../../os/files/folder-handle.ts'
import { resolveInProject } from '../../os/files/resolve-in-project.ts'
import type { ListBackup } from '../../ports/task-source.ts'
import { MAX_LIST_SIZE } from './file-source.ts'

/**
 * Keeps the copy of a list in the file `copy`, and other copies beside it. `file`: the list, relative to a folder; null
 * for a list without a file.
 */
export function fileListBackup(file: string | null, copy: string): ListBackup {
  if (file === null) return NO_BACKUP
  return {
    save: cwd => backUpList(cwd, file, copy),
    keep: name => keepCopy(copy, `${copy}.${name}`),
    restore: cwd => isMissing(path.resolve(cwd, file)) && restoreList(cwd, file, copy),
    overwrite: cwd => overwriteList(cwd, file, copy),
    restoreCommand: (cwd, name) => {
      const source = name === undefined ? copy : `${copy}.${name}`
      return isMissing(source) ? null : formatRestoreCommand(cwd, file, source)
    },
  }
}

const NO_BACKUP: ListBackup = {
  save: () => undefined,
  keep: () => undefined,
  restore: () => false,
  overwrite: () => null,
  restoreCommand: () => null,
}

/** A plain `cp` would follow a link, wait at a pipe, or write into a folder. */
function formatRestoreCommand(cwd: string, file: string, source: string): string {
  const obstacle = findObstacle(cwd, file)
  const folder = path.dirname(file)
  const hasFolder = obstacle === file || fs.existsSync(path.resolve(cwd, folder))
  const commands = [
    ...(obstacle === null ? [] : [['mv', asOperand(obstacle), asOperand(freeName(cwd, obstacle))]]),
    ...(hasFolder && !isParent(obstacle, file) ? [] : [['mkdir', '-p', asOperand(folder)]]),
    ['cp', source, asOperand(file)],
  ]
  return commands.map(formatCommandLine).join(' && ')
}

/** Returns the first part of the path that is in the way: the list itself, or a link or file in place of a folder. */
function findObstacle(cwd: string, file: string): string | null {
  const parts = [file]
  for (let folder = path.dirname(file); folder !== path.dirname(folder); folder = path.dirname(folder))
    parts.unshift(folder)
  for (const part of parts) {
    const stat = fs.lstatSync(path.resolve(cwd, part), { throwIfNoEntry: false })
    if (stat === undefined) return null
    if (part === file || !(stat.isDirectory() || isFolderInProject(cwd, part))) return part
  }
  return null
}

/** A link inside the project may be the user's. */
function isFolderInProject(cwd: string, part: string): boolean {
  try {
    return fs.statSync(resolveInProject(cwd, part)).isDirectory()
  } catch {
    return false // The link leads out of the project, or nowhere.
  }
}

function isParent(obstacle: string | null, file: string): boolean {
  return obstacle !== null && obstacle !== file
}

function freeName(cwd: string, part: string): string {
  for (let n = 1; ; n++) {
    const name = `${part}.agent${n === 1 ? '' : n}`
    if (isMissing(path.resolve(cwd, name))) return name
  }
}

/** A command reads a name that begins with a dash as an option. */
function asOperand(file: string): string {
  return file.startsWith('-') ? `./${file}` : file
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

function keepCopy(copy: string, kept: string): void {
  try {
    if (!isMissing(kept)) return
    const { content, mode } = readRegularFile(copy, MAX_LIST_SIZE)
    writeDurably(kept, content, mode & 0o777)
  } catch {
    // There is no copy yet, or the disk is full.
  }
}

function overwriteList(cwd: string, file: string, copy: string): string | null {
  if (isMissing(copy) || isMissing(path.resolve(cwd, file))) return null
  const replaced = `${copy}.replaced`
  try {
    const { content } = readRegularFile(copy, MAX_LIST_SIZE)
    rewriteDurably(resolveInProject(cwd, file), MAX_LIST_SIZE, present => {
      writeDurably(replaced, present)
      return content
    })
    return replaced
  } catch (cause) {
    throw new Trouble(`bringing ${file} back`, cause)
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
