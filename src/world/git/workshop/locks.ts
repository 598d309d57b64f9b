import fs from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { GitFailed } from '../git-failed.ts'
import { lstat } from '../lstat.ts'

/** Milliseconds that a lock of somebody else is waited for. */
const PATIENCE = 30_000
/** git holds a lock for as long as it writes one file. In what is ours alone an older one was left by a git that was killed. */
const STALE = 5_000
const LOOK_AGAIN = 50

/** Also when somebody else was quicker to move a ref; not when its name lies below that of another one. */
const IS_LOCKED = /\.lock': File exists|could not lock config file|cannot lock ref (?!.*exists; cannot create)/

/**
 * Does again from the beginning what stumbled over a lock, for a while. `ours`: locks that nobody but us, and what we have
 * started and seen end, could have made; those go when they are old.
 */
export async function patiently<T>(
  { signal, ours }: { signal: AbortSignal; ours: () => readonly string[] },
  work: () => Promise<T>,
): Promise<T> {
  const begun = Date.now()
  for (;;) {
    for (const lock of ours()) removeStale(lock)
    try {
      return await work()
    } catch (cause) {
      const isLocked = cause instanceof GitFailed && IS_LOCKED.test(cause.stderr)
      if (!isLocked || Date.now() - begun > PATIENCE) throw cause
      await pause(LOOK_AGAIN * (1 + Math.random()), undefined, { signal })
    }
  }
}

function removeStale(lock: string): void {
  const stat = lstat(lock)
  if (stat !== undefined && Date.now() - stat.mtimeMs > STALE) fs.rmSync(lock, { force: true })
}
