import fs from 'node:fs'
import path from 'node:path'
import { NotSaved } from '../../../ports/checkpoints.ts'
import { findGitFolder } from './find-and-check-git-folder.ts'

/** Milliseconds that a git process may run before we check if it hangs. */
const PIPE_CHECK_DELAY = 1_500
/** Folder entries to check; a repository with more is slow by itself. */
const MAX_ENTRIES = 500_000

/** Files that git reads in each folder of a working tree. */
const READ_FILES = new Set(['.gitignore', '.gitattributes', '.gitmodules', '.git'])

/**
 * A slow git process may hang at a pipe or a device, deep in the working tree or in `.git`, because it opens every such
 * file. If the watch finds one, it calls `found` with a sentence. Returns a function that ends the watch.
 */
export function watchForPipes(top: string, found: (cause: NotSaved) => void): () => void {
  let isOver = false
  const look = async (): Promise<void> => {
    const file = await findPipe(top, gitDirsOf(top), () => isOver)
    if (file !== null && !isOver)
      found(new NotSaved(`${file} is neither a file nor a folder, and git would hang when it opens it`))
  }
  const timer = setTimeout(() => void look(), PIPE_CHECK_DELAY).unref()
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}

/** The git folders of a worktree or submodule lie elsewhere. */
function gitDirsOf(top: string): string[] {
  try {
    const folder = findGitFolder(top)
    return folder === null ? [] : [...new Set([folder.own, folder.shared])]
  } catch {
    return [] // Somebody has replaced `.git` meanwhile; the scan of the working tree finds it.
  }
}

async function findPipe(top: string, gits: readonly string[], isOver: () => boolean): Promise<string | null> {
  const folders = [top, ...gits.filter(git => !git.startsWith(`${top}/`))]
  let count = 0
  for (let folder = folders.pop(); folder !== undefined && count < MAX_ENTRIES && !isOver(); folder = folders.pop()) {
    // The folder vanished, or we may not read it.
    const entries = await fs.promises.readdir(folder, { withFileTypes: true }).catch(() => [])
    const isGits = folder.slice(top.length).split('/').includes('.git') || gits.some(git => isWithin(folder, git))
    count += entries.length
    const odd = entries.find(entry => (isGits || READ_FILES.has(entry.name)) && isPipeOrDevice(folder, entry))
    if (odd !== undefined) return path.join(folder, odd.name)
    for (const entry of entries) if (entry.isDirectory()) folders.push(path.join(folder, entry.name))
  }
  return null
}

function isWithin(folder: string, git: string): boolean {
  return folder === git || folder.startsWith(`${git}/`)
}

/** Returns true for a pipe or a device, or a link to one. */
function isPipeOrDevice(folder: string, entry: fs.Dirent): boolean {
  if (entry.isFile() || entry.isDirectory()) return false
  const kind = entry.isSymbolicLink() ? statOf(path.join(folder, entry.name)) : entry
  return kind !== undefined && (kind.isFIFO() || kind.isCharacterDevice() || kind.isBlockDevice())
}

function statOf(file: string): fs.Stats | undefined {
  try {
    return fs.statSync(file)
  } catch {
    return undefined // The link is dangling.
  }
}
