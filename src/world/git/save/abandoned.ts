import fs from 'node:fs'
import { lstat } from '../lstat.ts'

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
  const [, target = ''] = /^gitdir: (.*)/s.exec(fs.readFileSync(git, 'latin1').replace(/(?<!\n)\n+$/, '')) ?? []
  return fs.existsSync(target.startsWith('/') ? Buffer.from(target, 'latin1') : inside(folder, target))
}

function inside(folder: Buffer, name: string): Buffer {
  return Buffer.concat([folder, Buffer.from(`/${name}`, 'latin1')])
}
