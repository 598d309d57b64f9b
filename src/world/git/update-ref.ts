import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { ObjectId } from '../../core/checkpoint/object-id.ts'
import { assertRef } from './guard/find-and-check-git-folder.ts'
import { lstat } from '../../os/files/lstat-if-exists.ts'
import type { RepositoryContext } from './repository-context.ts'
import { syncFiles } from './fsync-objects.ts'

/** Milliseconds. git holds the lock of a ref for about a millisecond; a killed git has left an older one. */
const STALE_LOCK_AGE = 2_000
const POLL_INTERVAL = 50

/**
 * Points the ref of a repository to a commit, or deletes it, if it still has the expected value. The change is durable
 * when this returns.
 */
export async function updateRef(context: RepositoryContext, to: ObjectId | null, from: ObjectId | null): Promise<void> {
  const { git, ref, repository } = context
  await removeStaleLock(context)
  const change = to === null ? ['-d', ref, from ?? ''] : [ref, to, from ?? repository.emptyIds.commit]
  await git.run([...UPDATE_REF, ...change])
  await syncRef(context)
}

/**
 * Writes no reflog: our refs are a chain already. If somebody makes our ref symbolic, `--no-deref` protects its target.
 */
export const UPDATE_REF = ['-c', 'core.logAllRefUpdates=false', 'update-ref', '--no-deref'] as const

/**
 * git 2.39 syncs the file of a ref but not its folders, which it recreates after it packed all refs. With another
 * storage format, these folders do not exist.
 */
async function syncRef({ ref, repository }: RepositoryContext): Promise<void> {
  await syncFiles(ref.split('/').map((_, at, names) => path.join(repository.commonDir, ...names.slice(0, at))))
}

/** Removes the lock that a killed git has left on our ref. Only we lock this ref, and only one lock at a time. */
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
