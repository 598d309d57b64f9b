import fs from 'node:fs'
import path from 'node:path'
import { hasCode, Trouble } from '../../lib/trouble.ts'
import { draftIn, readRegular, writeDurably } from '../os/files.ts'
import { makeStraight } from '../os/open-folder.ts'
import { insideProject } from '../os/project-top.ts'
import { LONGEST_LIST } from './file-source.ts'

/** Keeps a copy of a list, so that it can be brought back when an agent deletes it. Writes nothing where nothing is different. */
export function keepCopy(cwd: string, file: string, copy: string): void {
  try {
    const { content, mode } = readRegular(insideProject(cwd, file), LONGEST_LIST)
    if (isSame(copy, content)) return
    fs.mkdirSync(path.dirname(copy), { recursive: true, mode: 0o700 })
    writeDurably(copy, content, mode & 0o777)
  } catch {
    // The list went away meanwhile, or the disk is full: work does not stop for want of a copy.
  }
}

function isSame(copy: string, content: Buffer): boolean {
  try {
    return readRegular(copy, LONGEST_LIST).content.equals(content)
  } catch {
    return false // None yet.
  }
}

/** Puts the copy where the list was, if nothing is there and no link is on the way; false where it was not brought back. */
export function bringBack(cwd: string, file: string, copy: string): boolean {
  try {
    return fs.existsSync(copy) && restored(cwd, file, copy)
  } catch (cause) {
    throw new Trouble(`bringing ${file} back`, cause)
  }
}

function restored(cwd: string, file: string, copy: string): boolean {
  const { content, mode } = readRegular(copy, LONGEST_LIST)
  const named = path.resolve(fs.realpathSync(cwd), file)
  const folder = makeStraight(path.dirname(named))
  try {
    const draft = draftIn(folder, path.basename(named), content, { mode, isDurable: true })
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
