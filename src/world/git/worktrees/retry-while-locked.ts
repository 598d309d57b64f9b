import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { formatCommandLine } from '../../../lib/text/shell-words.ts'
import { formatDuration } from '../../../lib/time.ts'
import type { GitLock } from '../../../ports/worktrees.ts'
import { GitError } from '../git-error.ts'
import type { RepositoryDirs } from '../guard/config-overrides.ts'
import { lstat } from '../../../os/files/lstat-if-exists.ts'
import { processDetails } from '../../../os/process/cwd-and-argv.ts'
import { programs } from '../../../os/process/processes.ts'

/** Milliseconds that we wait for another process's lock. */
const LOCK_TIMEOUT = 30_000
/** Milliseconds. git holds a lock while it writes one file. In our own folders, a killed git has left an older lock. */
const STALE_LOCK_AGE = 5_000
/** Milliseconds after which a lock counts as left behind, if no running git could hold it. */
const ORPHANED_LOCK_AGE = 10_000
const LOCK_POLL_INTERVAL = 50

/** Also matches when another process moved a ref first; not when a ref's name lies below that of another ref. */
const IS_LOCKED = /\.lock': File exists|could not lock config file|cannot lock ref (?!.*exists; cannot create)/

/** A killed git has left a lock that we must not remove. A retry does not help until somebody removes it. */
export class LockLeft extends Error {
  override readonly name = 'LockLeft'
}

/**
 * Repeats work from its start while it fails on a lock, up to a time limit. `ours`: locks that only we or our ended
 * child processes could have created; it removes these when they are old. `folders`: the repository whose locks it may
 * judge by the running git processes.
 */
export async function retryWhileLocked<T>(
  { signal, ours, folders }: { signal: AbortSignal; ours: () => readonly string[]; folders: RepositoryDirs | null },
  work: () => Promise<T>,
): Promise<T> {
  const begun = Date.now()
  for (;;) {
    for (const lock of ours()) removeStaleLock(lock)
    try {
      return await work()
    } catch (cause) {
      if (!(cause instanceof GitError && IS_LOCKED.test(cause.stderr))) throw cause
      const lock = folders === null ? null : parseLockFile(folders, cause.stderr)
      const isOver = Date.now() - begun > LOCK_TIMEOUT
      if (folders !== null && lock !== null) removeOrphanedLock(lock, folders, isOver)
      if (isOver) throw cause
      await pause(LOCK_POLL_INTERVAL * (1 + Math.random()), undefined, { signal })
    }
  }
}

function removeStaleLock(lock: string): void {
  const stat = lstat(lock)
  if (stat !== undefined && Date.now() - stat.mtimeMs > STALE_LOCK_AGE) fs.rmSync(lock, { force: true })
}

/** Returns the lock that git's message names; null if it is no file of this repository. */
function parseLockFile({ gitDir, commonDir }: RepositoryDirs, stderr: string): string | null {
  const named = /could not lock config file/.test(stderr)
    ? path.join(commonDir, 'config.lock')
    : /Unable to create '([^'\n]+\.lock)': File exists/.exec(stderr)?.[1]
  if (named === undefined || path.resolve(named) !== named) return null
  return [gitDir, commonDir].some(folder => named.startsWith(`${folder}${path.sep}`)) ? named : null
}

/** Removes a lock that no process can hold. Throws if a person must remove it, or if a process holds it too long. */
function removeOrphanedLock(lock: string, folders: RepositoryDirs, isOver: boolean): void {
  const stat = lstat(lock)
  if (stat === undefined) return
  const age = Date.now() - stat.mtimeMs
  if (age < ORPHANED_LOCK_AGE) return
  const holder = possibleHolder(folders, stat)
  if (holder === null && isOurs(stat) && isBrief(lock, folders) && isOnLocalFileSystem(lock))
    return removeIfSame(lock, stat)
  if (holder !== null && !isOver) return
  const since = `${lock} has been there for ${formatDuration(age)}`
  const remedy = `make sure that no git is at work here, then remove it: ${formatCommandLine(['rm', '--', lock])}`
  if (holder === null) throw new LockLeft(`${since}, and a git that was killed may have left it: ${remedy}`)
  throw new Error(`${since}, and ${holder} may hold it: wait for its end, or ${remedy}`)
}

/** Returns the locks of HEAD and of the index. Lists the running git processes only if there is a lock. */
export function listCheckoutLocks(folders: RepositoryDirs): GitLock[] {
  return ['index.lock', 'HEAD.lock'].flatMap((name): GitLock[] => {
    const file = path.join(folders.gitDir, name)
    const stat = lstat(file)
    if (stat === undefined) return []
    // A git process elsewhere whose variables name a repository hardly ever means this one, and nobody removes the lock.
    const isHeld = possibleHolder(folders, stat, runsIn) !== null
    return [{ file, stamp: `${file} ${stat.ino} ${stat.mtimeMs}`, isHeld }]
  })
}

/** Returns true if we own the lock; the processes of other users may be hidden from us. */
function isOurs({ uid }: fs.Stats): boolean {
  return uid === process.getuid?.() || process.getuid?.() === 0
}

/**
 * Returns true for refs and settings: programs other than git, which we cannot recognise by name, hold these for
 * milliseconds only.
 */
function isBrief(lock: string, { commonDir }: RepositoryDirs): boolean {
  const name = path.relative(commonDir, lock)
  return name === 'packed-refs.lock' || name === 'config.lock' || name.startsWith(`refs${path.sep}`)
}

/** ext4, xfs, btrfs, tmpfs, overlayfs, zfs, f2fs and bcachefs: other machines do not write there. */
const LOCAL_FILE_SYSTEMS = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010, 0xca451a4e,
])

function isOnLocalFileSystem(lock: string): boolean {
  return LOCAL_FILE_SYSTEMS.has(fs.statfsSync(path.dirname(lock)).type)
}

function removeIfSame(lock: string, { ino, mtimeMs }: fs.Stats): void {
  const now = lstat(lock)
  if (now?.isFile() && now.ino === ino && now.mtimeMs === mtimeMs) fs.rmSync(lock, { force: true })
}

/** Milliseconds by which the clocks of files and of processes may differ. */
const TOLERANCE = 1_000

/** git programs that run for a long time and lock nothing. */
const HARMLESS_COMMANDS = new Set(['fsmonitor--daemon', 'credential-cache--daemon'])

/**
 * * Describes a running git process that started before somebody wrote the lock and may work in this repository; null
 * if there is none. A git process with unreadable details counts as one that works here.
 */
function possibleHolder(
  folders: RepositoryDirs,
  { birthtimeMs, mtimeMs }: fs.Stats,
  isIn: (tops: readonly string[], pid: number) => boolean = mayWorkIn,
): string | null {
  const all = programs()
  if (all === null) return 'another git process'
  const until = Math.max(birthtimeMs, mtimeMs) + TOLERANCE
  const tops = repositoryFolders(folders)
  const holder = all.find(({ pid, name, bornAt }) => /^git(?:-|$)/.test(name) && bornAt <= until && isIn(tops, pid))
  return holder === undefined ? null : `the git process ${holder.pid}`
}

function mayWorkIn(tops: readonly string[], pid: number): boolean {
  const details = processDetails(pid)
  if (details === null) return true
  const { cwd, argv, variables } = details
  if (argv.some(word => HARMLESS_COMMANDS.has(word))) return false
  // git changes into the worktree that it was started in, unless the caller names the repository.
  if (variables.includes('GIT_DIR') || argv.some(word => word.startsWith('--git-dir'))) return true
  return isBelow(tops, cwd)
}

function runsIn(tops: readonly string[], pid: number): boolean {
  const details = processDetails(pid)
  return details !== null && isBelow(tops, details.cwd)
}

function isBelow(tops: readonly string[], cwd: string): boolean {
  return tops.some(top => cwd === top || cwd.startsWith(`${top}${path.sep}`))
}

/** Returns the folders of this repository: its git folder, the main worktree, and the linked worktrees. */
function repositoryFolders({ commonDir }: RepositoryDirs): string[] {
  const all = path.join(commonDir, 'worktrees')
  const names = fs.existsSync(all) ? fs.readdirSync(all) : []
  return [commonDir, path.dirname(commonDir), ...names.flatMap(name => worktreeAt(path.join(all, name)))]
}

function worktreeAt(gitDir: string): string[] {
  try {
    return [path.dirname(path.resolve(gitDir, fs.readFileSync(path.join(gitDir, 'gitdir'), 'utf8').trim()))]
  } catch {
    return [] // The entry is incomplete, or it vanished.
  }
}
