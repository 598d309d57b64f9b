import fs from 'node:fs'
import path from 'node:path'
import { hasCode } from '../../lib/trouble.ts'
import { readRegular } from './files.ts'
import { makeStraight } from './open-folder.ts'

const { O_RDONLY, O_RDWR, O_CREAT, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = fs.constants
/** Bytes; nobody excludes so much by hand. */
const LONGEST = 1_048_576

/**
 * Adds patterns to a project's `.git/info/exclude`; the user's .gitignore is not touched. Whoever works in the project can write
 * in `.git`, too: we write only to a regular file of the repository and follow no link.
 */
export function hideFromGit(project: string, patterns: readonly string[]): void {
  const git = gitFolderOf(project)
  if (git === undefined) return
  const info = makeStraight(path.join(fs.realpathSync(git), 'info'))
  try {
    const exclude = info.at('exclude')
    if (missingIn(exclude, patterns).length === 0) return
    const fd = fs.openSync(exclude, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0o666)
    try {
      const lines = linesIn(fd)
      const added = patterns.filter(pattern => !lines.split('\n').includes(pattern)).map(pattern => `${pattern}\n`)
      fs.writeSync(fd, `${lines === '' || lines.endsWith('\n') ? '' : '\n'}${added.join('')}`)
    } finally {
      fs.closeSync(fd)
    }
  } finally {
    info.close()
  }
}

/** Looked up first, because a file that needs no change need not be writable. */
function missingIn(exclude: string, patterns: readonly string[]): readonly string[] {
  if (!isThere(exclude)) return patterns
  const fd = fs.openSync(exclude, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const lines = linesIn(fd).split('\n')
    return patterns.filter(pattern => !lines.includes(pattern))
  } finally {
    fs.closeSync(fd)
  }
}

function linesIn(fd: number): string {
  const stat = fs.fstatSync(fd)
  if (!stat.isFile() || stat.nlink > 1) throw new Error('.git/info/exclude is not a file of its own')
  if (stat.size > LONGEST) throw new Error('.git/info/exclude is longer than 1 MB')
  return fs.readFileSync(fd, 'utf8')
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
  const isFile = fs.statSync(place, { throwIfNoEntry: false })?.isFile() === true
  const own = isFile ? leadIn(place, /^gitdir: (.+)$/m) : place
  if (own === undefined || (isFile && !leadsBack(own, place))) return undefined
  const shared = leadIn(path.join(own, 'commondir'), /^(.+)$/m, own) ?? own
  return ['HEAD', 'objects'].every(name => fs.existsSync(path.join(shared, name))) ? shared : undefined
}

/** Whether a git folder knows this worktree or submodule. Anybody can write a `.git` file that names a folder of others. */
function leadsBack(own: string, place: string): boolean {
  const worktree = leadIn(path.join(own, 'gitdir'), /^(.+)$/m)
  const submodule = leadIn(path.join(own, 'config'), /^[ \t]*worktree[ \t]*=[ \t]*(.+)$/m)
  return isSame(worktree, place) || isSame(submodule, path.dirname(place))
}

function isSame(one: string | undefined, other: string): boolean {
  return one !== undefined && fs.existsSync(one) && fs.realpathSync(one) === fs.realpathSync(other)
}

/** The folder that a file names, from where it lies; undefined when it names none. */
function leadIn(file: string, pattern: RegExp, from = path.dirname(file)): string | undefined {
  try {
    const named = pattern.exec(readRegular(file, LONGEST).content.toString())?.[1]
    return named === undefined ? undefined : path.resolve(from, named.trim())
  } catch (cause) {
    if (hasCode(cause, 'ENOENT', 'ENOTDIR', 'EISDIR')) return undefined
    throw cause
  }
}

function isThere(place: string): boolean {
  return fs.lstatSync(place, { throwIfNoEntry: false }) !== undefined
}
