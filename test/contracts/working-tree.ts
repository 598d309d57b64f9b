import fs from 'node:fs'
import path from 'node:path'
import { rawPath } from '../../src/lib/raw-path.ts'

/** Every file of a folder by its name, with what it is; git's own folders are left out. */
export function treeIn(
  folder: string | Buffer,
  isIgnored: (path: string) => boolean = () => false,
): Map<string, string> {
  const found = new Map<string, string>()
  const walk = (at: Buffer, prefix: string): void => {
    for (const name of fs.readdirSync(at, { encoding: 'buffer' }).sort((one, other) => one.compare(other))) {
      const file = Buffer.concat([at, Buffer.from('/'), name])
      const relative = prefix + rawPath(name)
      if (rawPath(name) === '.git' || isIgnored(relative)) continue
      const stat = fs.lstatSync(file)
      if (stat.isDirectory()) walk(file, `${relative}/`)
      else found.set(relative, describe(file, stat))
    }
  }
  walk(Buffer.from(folder), '')
  return found
}

function describe(file: Buffer, stat: fs.Stats): string {
  if (stat.isSymbolicLink()) return `link ${rawPath(fs.readlinkSync(file, { encoding: 'buffer' }))}`
  return `${stat.mode & 0o100 ? 'program' : 'file'} ${rawPath(fs.readFileSync(file))}`
}

/** Everything of a repository that is its user's, to the byte; what is kept for us is left out. */
export function userState(repository: string): Map<string, string> {
  const gitDir = path.join(repository, '.git')
  const state = new Map<string, string>()
  const walk = (folder: string): void => {
    for (const name of fs.readdirSync(folder).sort()) {
      const file = path.join(folder, name)
      const relative = path.relative(repository, file)
      const stat = fs.lstatSync(file)
      if (relative === '.git/objects' || relative === '.git/refs/oneshot') continue
      if (stat.isDirectory()) walk(file)
      else if (relative.startsWith('.git/')) state.set(relative, fs.readFileSync(file, 'latin1'))
      else state.set(relative, `${stat.mtimeMs} ${stat.ino} ${stat.mode}`)
    }
  }
  if (fs.existsSync(gitDir)) walk(repository)
  state.set('index age', `${fs.statSync(path.join(gitDir, 'index'), { throwIfNoEntry: false })?.mtimeMs}`)
  return state
}
