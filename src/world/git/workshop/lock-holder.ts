import fs from 'node:fs'
import path from 'node:path'
import { processDetails } from '../../os/process-details.ts'
import { programs } from '../../os/processes.ts'
import type { GitFolders } from '../guard/guard.ts'

/** Milliseconds by which the clocks of files and of processes may differ. */
const TOLERANCE = 1_000

/** Programs of git that live long and lock nothing. */
const IDLE = new Set(['fsmonitor--daemon', 'credential-cache--daemon'])

/**
 * A living git that began before this file was written and may work in this repository, as a phrase; null where there is none. A git
 * about which we cannot read enough counts as one that works here.
 */
export function possibleHolder(folders: GitFolders, { birthtimeMs, mtimeMs }: fs.Stats): string | null {
  const all = programs()
  if (all === null) return 'another git process'
  const until = Math.max(birthtimeMs, mtimeMs) + TOLERANCE
  const tops = topsOf(folders)
  const holder = all.find(
    ({ pid, name, bornAt }) => /^git(?:-|$)/.test(name) && bornAt <= until && mayWorkIn(tops, pid),
  )
  return holder === undefined ? null : `the git process ${holder.pid}`
}

function mayWorkIn(tops: readonly string[], pid: number): boolean {
  const details = processDetails(pid)
  if (details === null) return true
  const { cwd, argv, variables } = details
  if (argv.some(word => IDLE.has(word))) return false
  // git enters the working tree that it was started in, unless it is told where the repository is.
  if (variables.includes('GIT_DIR') || argv.some(word => word.startsWith('--git-dir'))) return true
  return tops.some(top => cwd === top || cwd.startsWith(`${top}${path.sep}`))
}

/** The folders of this repository: its git folder, the working tree around that, and its other working trees. */
function topsOf({ commonDir }: GitFolders): string[] {
  const all = path.join(commonDir, 'worktrees')
  const names = fs.existsSync(all) ? fs.readdirSync(all) : []
  return [commonDir, path.dirname(commonDir), ...names.flatMap(name => worktreeAt(path.join(all, name)))]
}

function worktreeAt(gitDir: string): string[] {
  try {
    return [path.dirname(path.resolve(gitDir, fs.readFileSync(path.join(gitDir, 'gitdir'), 'utf8').trim()))]
  } catch {
    return [] // It is half made, or gone meanwhile.
  }
}
