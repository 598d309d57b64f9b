import fs from 'node:fs'
import path from 'node:path'

/** Keeps a folder of a project out of git by `.git/info/exclude`; the user's .gitignore is not touched. */
export function hideFromGit(project: string, folder: string): void {
  const git = gitFolderOf(project)
  if (git === undefined) return
  const file = path.join(git, 'info', 'exclude')
  const lines = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : ''
  if (lines.split('\n').includes(`${folder}/`)) return
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.appendFileSync(file, `${lines === '' || lines.endsWith('\n') ? '' : '\n'}${folder}/\n`)
}

/** The folder that all worktrees of the project's repository share; undefined outside of one. */
function gitFolderOf(project: string): string | undefined {
  for (let place = project; ; place = path.dirname(place)) {
    const found = path.join(place, '.git')
    const stat = fs.statSync(found, { throwIfNoEntry: false })
    if (stat?.isDirectory()) return found
    if (stat?.isFile()) return sharedFolder(found)
    if (place === path.dirname(place)) return undefined
  }
}

/** In a worktree or submodule `.git` is a file that leads to the folder, and that may lead to the one they share. */
function sharedFolder(file: string): string | undefined {
  const own = /^gitdir: (.+)$/m.exec(fs.readFileSync(file, 'utf8'))?.[1]
  if (own === undefined) return undefined
  const folder = path.resolve(path.dirname(file), own)
  const common = path.join(folder, 'commondir')
  return fs.existsSync(common) ? path.resolve(folder, fs.readFileSync(common, 'utf8').trim()) : folder
}
