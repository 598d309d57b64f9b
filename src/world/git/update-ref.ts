import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { assertRef } from './guard/git-folder.ts'
import { lstat } from './files.ts'
import type { RepositoryContext } from './repository-context.ts'
import { syncFiles } from './objects.ts'

/** git holds the lock of a ref for about a millisecond. One that is older was left by a git that was killed. */
const STALE_LOCK_AGE = 2_000
const POLL_INTERVAL = 50

/**
 * Points the ref of a place to a commit, or to nothing, if it still points to what we think. It has reached the disk when this
 * returns.
 */
export async function updateRef(context: RepositoryContext, to: string | null, from: string | null): Promise<void> {
  const { git, ref, repository } = context
  await removeStaleLock(context)
  const change = to === null ? ['-d', ref, from ?? ''] : [ref, to, from ?? repository.emptyIds.commit]
  await git.run([...UPDATE_REF, ...change])
  await syncRef(context)
}

/** Without a reflog: refs of ours are a chain already. A ref of ours that somebody has made a symbolic one moves no other ref. */
export const UPDATE_REF = ['-c', 'core.logAllRefUpdates=false', 'update-ref', '--no-deref'] as const

/**
 * git 2.39 flushes the file of a ref, and not the folders that name it, which it makes anew after all refs were packed. Where refs
 * are kept otherwise there are none.
 */
export async function syncRef({ ref, repository }: RepositoryContext): Promise<void> {
  await syncFiles(ref.split('/').map((_, at, names) => path.join(repository.commonDir, ...names.slice(0, at))))
}

/** Removes the lock that a killed git has left on our ref. Nobody else makes one there, and we make one at a time. */
export async function removeStaleLock({ repository, ref, git }: RepositoryContext): Promise<void> {
  assertRef(repository.commonDir, ref)
  const lock = path.join(repository.commonDir, `${ref}.lock`)
  for (let waited = 0; ; waited += POLL_INTERVAL) {
    const stat = lstat(lock)
    if (stat === undefined) return
    if (waited >= STALE_LOCK_AGE || Date.now() - stat.mtimeMs > STALE_LOCK_AGE) return fs.rmSync(lock, { force: true })
    await pause(POLL_INTERVAL, undefined, { signal: git.signal })
  }
}
