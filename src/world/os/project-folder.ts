import fs from 'node:fs'
import path from 'node:path'

/** The folder for people and agents who look into a project, and what git is told about it. */
const FOLDER = '.agent'
const EXCLUDED = '.agent/'

/**
 * Shows a transcript in the project it belongs to, as `.agent/session.log` and under the session's own name. The text stays
 * where it is, readable by its user alone. git does not see the folder, and the user's .gitignore is not touched. A project
 * that cannot be written to goes without.
 */
export function showTranscript(project: string, name: string, transcript: string): void {
  try {
    const folder = path.join(project, FOLDER)
    if (!fs.existsSync(folder)) fs.mkdirSync(folder)
    hideFromGit(project)
    for (const file of [`${name}.log`, 'session.log']) lead(path.join(folder, file), transcript)
  } catch {
    // It is only a view; `oneshot log` shows the same.
  }
}

/** Never in the place of a file that is not ours. */
function lead(link: string, target: string): void {
  const found = fs.lstatSync(link, { throwIfNoEntry: false })
  if (found !== undefined && !found.isSymbolicLink()) return
  if (found !== undefined && fs.readlinkSync(link) === target) return
  const draft = `${link}.${process.pid}.tmp`
  fs.rmSync(draft, { force: true })
  fs.symlinkSync(target, draft)
  fs.renameSync(draft, link)
}

function hideFromGit(project: string): void {
  const folder = gitFolderOf(project)
  if (folder === undefined) return
  const file = path.join(folder, 'info', 'exclude')
  const lines = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : ''
  if (lines.split('\n').includes(EXCLUDED)) return
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.appendFileSync(file, `${lines === '' || lines.endsWith('\n') ? '' : '\n'}${EXCLUDED}\n`)
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
