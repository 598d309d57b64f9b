import fs from 'node:fs'
import path from 'node:path'
import { hasCode } from '../lib/errors.ts'
import { readRegularFile } from '../os/files/file-io.ts'
import { createFolderWithoutLinks } from '../os/files/folder-handle.ts'
import { isSettled } from '../os/files/mtime-is-settled.ts'

const { O_RDONLY, O_RDWR, O_CREAT, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = fs.constants
/** Bytes; nobody writes so many exclude patterns by hand. */
const MAX_FILE_SIZE = 1_048_576

/**
 * Adds patterns to a project's `.git/info/exclude` and leaves the user's .gitignore alone. An agent in the project can
 * also write in `.git`, so this function writes only to a regular file of the repository and follows no link.
 */
export function addToGitExclude(project: string, patterns: readonly string[]): void {
  const key = [project, ...patterns].join('\0')
  const stamp = excludeStamp(project)
  if (stamp !== null && checkedExcludes.get(key) === stamp) return
  const git = findGitFolder(project)
  if (git === undefined) return
  const info = createFolderWithoutLinks(path.join(fs.realpathSync(git), 'info'))
  try {
    const exclude = info.at('exclude')
    if (findMissing(exclude, patterns).length === 0) {
      if (checkedExcludes.size > MAX_CHECKED) checkedExcludes.clear()
      // The stamp is from before the file was read: a change since then shows.
      if (stamp !== null && git === path.join(project, '.git')) checkedExcludes.set(key, stamp)
      return
    }
    const fd = fs.openSync(exclude, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0o666)
    try {
      const lines = readLines(fd)
      const added = patterns.filter(pattern => !lines.split('\n').includes(pattern)).map(pattern => `${pattern}\n`)
      fs.writeSync(fd, `${lines === '' || lines.endsWith('\n') ? '' : '\n'}${added.join('')}`)
    } finally {
      fs.closeSync(fd)
    }
  } finally {
    info.close()
  }
}

/** By project and patterns: the stamp of the exclude file that was seen to hold all of the patterns. */
const checkedExcludes = new Map<string, string>()
const MAX_CHECKED = 1_000

/**
 * The state of `.git/info/exclude` in a project whose `.git` is a folder and the whole repository. Null where that is otherwise,
 * and where the next change of the file might not show in its times.
 */
function excludeStamp(project: string): string | null {
  const git = path.join(project, '.git')
  const folder = fs.lstatSync(git, { throwIfNoEntry: false })
  if (folder?.isDirectory() !== true || exists(path.join(git, 'commondir'))) return null
  const file = fs.lstatSync(path.join(git, 'info', 'exclude'), { throwIfNoEntry: false })
  if (file?.isFile() !== true || !isSettled(file)) return null
  return [folder.dev, folder.ino, file.dev, file.ino, file.size, file.nlink, file.mtimeMs, file.ctimeMs].join(' ')
}

/** Returns the patterns that the file lacks. A file that needs no change need not be writable. */
function findMissing(exclude: string, patterns: readonly string[]): readonly string[] {
  if (!exists(exclude)) return patterns
  const fd = fs.openSync(exclude, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const lines = readLines(fd).split('\n')
    return patterns.filter(pattern => !lines.includes(pattern))
  } finally {
    fs.closeSync(fd)
  }
}

function readLines(fd: number): string {
  const stat = fs.fstatSync(fd)
  if (!stat.isFile() || stat.nlink > 1) throw new Error('.git/info/exclude is not a file of its own')
  if (stat.size > MAX_FILE_SIZE) throw new Error('.git/info/exclude is longer than 1 MB')
  return fs.readFileSync(fd, 'utf8')
}

/** Returns the folder that all worktrees of the repository share; undefined outside of a repository. */
function findGitFolder(project: string): string | undefined {
  for (let folder = project; ; folder = path.dirname(folder)) {
    const found = resolveGitFolder(path.join(folder, '.git'))
    if (found !== undefined || folder === path.dirname(folder)) return found
  }
}

/**
 * Returns the shared folder: in a worktree or submodule, `.git` is a file that names a folder, which may name the
 * shared one.
 */
function resolveGitFolder(gitPath: string): string | undefined {
  const isFile = fs.statSync(gitPath, { throwIfNoEntry: false })?.isFile() === true
  const gitFolder = isFile ? readPointer(gitPath, /^gitdir: (.+)$/m) : gitPath
  if (gitFolder === undefined || (isFile && !pointsBack(gitFolder, gitPath))) return undefined
  const commonFolder = readPointer(path.join(gitFolder, 'commondir'), /^(.+)$/m, gitFolder) ?? gitFolder
  return ['HEAD', 'objects'].every(name => fs.existsSync(path.join(commonFolder, name))) ? commonFolder : undefined
}

/**
 * Returns true if a git folder knows this worktree or submodule. Anybody can write a `.git` file that names a foreign
 * folder.
 */
function pointsBack(gitFolder: string, gitPath: string): boolean {
  const worktree = readPointer(path.join(gitFolder, 'gitdir'), /^(.+)$/m)
  const submodule = readPointer(path.join(gitFolder, 'config'), /^[ \t]*worktree[ \t]*=[ \t]*(.+)$/m)
  return isSame(worktree, gitPath) || isSame(submodule, path.dirname(gitPath))
}

function isSame(one: string | undefined, other: string): boolean {
  return one !== undefined && fs.existsSync(one) && fs.realpathSync(one) === fs.realpathSync(other)
}

/** Returns the folder that a file names, relative to `from`; undefined if it names none. */
function readPointer(file: string, pattern: RegExp, from = path.dirname(file)): string | undefined {
  try {
    const named = pattern.exec(readRegularFile(file, MAX_FILE_SIZE).content.toString())?.[1]
    return named === undefined ? undefined : path.resolve(from, named.trim())
  } catch (cause) {
    if (hasCode(cause, 'ENOENT', 'ENOTDIR', 'EISDIR')) return undefined
    throw cause
  }
}

function exists(file: string): boolean {
  return fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined
}
