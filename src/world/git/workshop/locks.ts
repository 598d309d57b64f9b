import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { commandLine } from '../../../lib/quote.ts'
import { formatDuration } from '../../../lib/time.ts'
import { GitFailed } from '../git-failed.ts'
import type { GitFolders } from '../guard/guard.ts'
import { lstat } from '../lstat.ts'
import { possibleHolder } from './lock-holder.ts'

/** Milliseconds that a lock of somebody else is waited for. */
const PATIENCE = 30_000
/** git holds a lock for as long as it writes one file. In what is ours alone an older one was left by a git that was killed. */
const STALE = 5_000
/** Milliseconds after which a lock counts as left behind, if no git is alive that could have made it. */
const LEFT_BEHIND = 10_000
const LOOK_AGAIN = 50

/** Also when somebody else was quicker to move a ref; not when its name lies below that of another one. */
const IS_LOCKED = /\.lock': File exists|could not lock config file|cannot lock ref (?!.*exists; cannot create)/

/** A killed git has left a lock that we may not remove. To try again does not help until somebody removes it. */
export class LockLeft extends Error {
  override readonly name = 'LockLeft'
}

/**
 * Does again from the beginning what stumbled over a lock, for a while. `ours`: locks that nobody but us, and what we have
 * started and seen end, could have made; those go when they are old. `folders`: the repository whose locks may be judged by the
 * git processes that are alive.
 */
export async function patiently<T>(
  { signal, ours, folders }: { signal: AbortSignal; ours: () => readonly string[]; folders: GitFolders | null },
  work: () => Promise<T>,
): Promise<T> {
  const begun = Date.now()
  for (;;) {
    for (const lock of ours()) removeStale(lock)
    try {
      return await work()
    } catch (cause) {
      if (!(cause instanceof GitFailed && IS_LOCKED.test(cause.stderr))) throw cause
      const lock = folders === null ? null : lockIn(folders, cause.stderr)
      const isOver = Date.now() - begun > PATIENCE
      if (folders !== null && lock !== null) settle(lock, folders, isOver)
      if (isOver) throw cause
      await pause(LOOK_AGAIN * (1 + Math.random()), undefined, { signal })
    }
  }
}

function removeStale(lock: string): void {
  const stat = lstat(lock)
  if (stat !== undefined && Date.now() - stat.mtimeMs > STALE) fs.rmSync(lock, { force: true })
}

/** The lock that git names in its message; null where that is no file of this repository. */
function lockIn({ gitDir, commonDir }: GitFolders, stderr: string): string | null {
  const named = /could not lock config file/.test(stderr)
    ? path.join(commonDir, 'config.lock')
    : /Unable to create '([^'\n]+\.lock)': File exists/.exec(stderr)?.[1]
  if (named === undefined || path.resolve(named) !== named) return null
  return [gitDir, commonDir].some(folder => named.startsWith(`${folder}${path.sep}`)) ? named : null
}

/** Removes a lock that nobody can hold. Throws where a person has to do that, or where somebody holds it for too long. */
function settle(lock: string, folders: GitFolders, isOver: boolean): void {
  const stat = lstat(lock)
  if (stat === undefined) return
  const age = Date.now() - stat.mtimeMs
  if (age < LEFT_BEHIND) return
  const holder = possibleHolder(folders, stat)
  if (holder === null && isOurs(stat) && isBrief(lock, folders) && isOnThisMachine(lock))
    return removeIfSame(lock, stat)
  if (holder !== null && !isOver) return
  const since = `${lock} has been there for ${formatDuration(age)}`
  const remedy = `make sure that no git is at work here, then remove it: ${commandLine(['rm', '--', lock])}`
  if (holder === null) throw new LockLeft(`${since}, and a git that was killed may have left it: ${remedy}`)
  throw new Error(`${since}, and ${holder} may hold it: wait for its end, or ${remedy}`)
}

/** Processes of other users may be hidden from us. */
function isOurs({ uid }: fs.Stats): boolean {
  return uid === process.getuid?.() || process.getuid?.() === 0
}

/** Refs and settings: programs other than git, which we would not know by their names, hold these for milliseconds only. */
function isBrief(lock: string, { commonDir }: GitFolders): boolean {
  const name = path.relative(commonDir, lock)
  return name === 'packed-refs.lock' || name === 'config.lock' || name.startsWith(`refs${path.sep}`)
}

/** ext4, xfs, btrfs, tmpfs, overlayfs, zfs, f2fs and bcachefs: other machines do not write there. */
const LOCAL = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010, 0xca451a4e])

function isOnThisMachine(lock: string): boolean {
  return LOCAL.has(fs.statfsSync(path.dirname(lock)).type)
}

function removeIfSame(lock: string, { ino, mtimeMs }: fs.Stats): void {
  const now = lstat(lock)
  if (now?.isFile() && now.ino === ino && now.mtimeMs === mtimeMs) fs.rmSync(lock, { force: true })
}
