import fs from 'node:fs'
import { readRegular } from '../../os/files.ts'
import { lstat } from '../lstat.ts'

/** git 2.39 reads no longer `.git` file. */
const LONGEST_GIT_FILE = 1_048_576

/** Files where the index has another repository are not looked at by git. They are files, once there is no repository. */
export function isAbandoned(folder: Buffer): boolean {
  try {
    return lstat(folder)?.isDirectory() === true && !hasRepository(folder) && fs.readdirSync(folder).length > 0
  } catch {
    return false // It may not be looked into: nobody knows, and it stays what it was.
  }
}

/** Whether there is one, or a file that leads to one. A worktree or a submodule may have been removed where it is kept. */
function hasRepository(folder: Buffer): boolean {
  const git = inside(folder, '.git')
  const stat = lstat(git)
  if (!stat?.isFile()) return stat !== undefined
  const text = readRegular(git, LONGEST_GIT_FILE).content.toString('latin1')
  const [, target = ''] = /^gitdir: (.*)/s.exec(text.replace(/(?<!\n)\n+$/, '')) ?? []
  return fs.existsSync(target.startsWith('/') ? Buffer.from(target, 'latin1') : inside(folder, target))
}

function inside(folder: Buffer, name: string): Buffer {
  return Buffer.concat([folder, Buffer.from(`/${name}`, 'latin1')])
}
