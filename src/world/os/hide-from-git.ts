import fs from 'node:fs'
import path from 'node:path'
import { hasCode } from '../../lib/trouble.ts'

const { O_RDONLY, O_RDWR, O_CREAT, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = fs.constants

/**
 * Keeps a folder of a project out of git by `.git/info/exclude`; the user's .gitignore is not touched. Whoever works in the
 * project can write in `.git`, too: what is written to is a file of a repository, and no link to another.
 */
export function hideFromGit(project: string, folder: string): void {
  const git = gitFolderOf(project)
  if (git === undefined) return
  const info = path.join(git, 'info')
  if (!isThere(info)) fs.mkdirSync(info)
  if (!fs.lstatSync(info).isDirectory()) throw new Error(`${info} is no folder`)
  const exclude = path.join(info, 'exclude')
  if (isHidden(exclude, folder)) return
  const fd = fs.openSync(exclude, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0o666)
  try {
    const lines = fs.readFileSync(fd, 'utf8')
    fs.writeSync(fd, `${lines === '' || lines.endsWith('\n') ? '' : '\n'}${folder}/\n`)
  } finally {
    fs.closeSync(fd)
  }
}

/** Where it is hidden already, nobody needs to be able to write there. */
function isHidden(exclude: string, folder: string): boolean {
  if (!isThere(exclude)) return false
  const fd = fs.openSync(exclude, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    return fs.readFileSync(fd, 'utf8').split('\n').includes(`${folder}/`)
  } finally {
    fs.closeSync(fd)
  }
}

/** The folder that all worktrees of the project's repository share; undefined outside of one. */
function gitFolderOf(project: string): string | undefined {
  for (let place = project; ; place = path.dirname(place)) {
    const found = repositoryAt(path.join(place, '.git'))
    if (found !== undefined || place === path.dirname(place)) return found
  }
}

/** In a worktree or submodule `.git` is a file that leads to the folder, and that may lead to the one they share. */
function repositoryAt(place: string): string | undefined {
  const own = fs.statSync(place, { throwIfNoEntry: false })?.isFile() ? leadIn(place, /^gitdir: (.+)$/m) : place
  const shared = own && (leadIn(path.join(own, 'commondir'), /^(.+)$/m, own) ?? own)
  const isOne = shared !== undefined && ['HEAD', 'objects'].every(name => fs.existsSync(path.join(shared, name)))
  return isOne ? shared : undefined
}

/** The folder that a file names, from where it lies; undefined when it names none. */
function leadIn(file: string, pattern: RegExp, from = path.dirname(file)): string | undefined {
  try {
    const named = pattern.exec(fs.readFileSync(file, 'utf8'))?.[1]
    return named === undefined ? undefined : path.resolve(from, named.trim())
  } catch (cause) {
    if (hasCode(cause, 'ENOENT', 'ENOTDIR', 'EISDIR')) return undefined
    throw cause
  }
}

function isThere(place: string): boolean {
  return fs.lstatSync(place, { throwIfNoEntry: false }) !== undefined
}
