import fs from 'node:fs'
import path from 'node:path'
import { isObjectId, type ObjectId, objectId } from '../../../../core/checkpoint/object-id.ts'
import { listOf, nullable, object, type Parser } from '../../../../lib/codec.ts'
import { replaceFile } from '../../../../os/files/file-io.ts'
import { readJsonCache } from '../../../../os/files/json-file.ts'
import { readRefTarget } from '../history.ts'
import { lstat } from '../../../../os/files/lstat-if-exists.ts'
import type { RepositoryContext } from '../../repository-context.ts'
import { updateRef } from '../../update-ref.ts'
import { missingObjects } from '../../fsync-objects.ts'
import { fileStamp } from './index-file.ts'

/** Milliseconds. */
const STALE_GC_AGE = 12 * 3_600_000

/** A checkpoint that we created while another process worked in the repository. */
interface UnverifiedCheckpoint {
  readonly commit: ObjectId
  readonly before: ObjectId | null
  readonly objects: readonly string[]
}

/**
 * Changes when `git gc` starts or ends, and with almost any other operation: git then creates a file in this folder.
 */
export function readGitDirStamp({ repository }: RepositoryContext): string {
  return fileStamp(repository.commonDir)
}

export function isUnchangedSince(context: RepositoryContext, gitDirStamp: string): boolean {
  return readGitDirStamp(context) === gitDirStamp && !isGcRunning(context)
}

/**
 * * Checks that a new checkpoint still exists. `git gc --prune=now` does not know objects that appeared after it
 * started, and may delete them even when a ref points to them already; so we check once more after it has ended. A
 * dangling ref would break the user's git: the ref goes back to the previous checkpoint. Returns true if that was
 * necessary.
 */
export async function rollBackIfBroken(
  context: RepositoryContext,
  unverified = readUnverified(context),
): Promise<boolean> {
  if (unverified === null || context.repository.isPartial) return false
  const isGone = (await missingObjects(context, unverified.objects)).length > 0
  if (isGone && (await readRefTarget(context)) === unverified.commit)
    await updateRef(context, unverified.before, unverified.commit)
  if (!isGone && isGcRunning(context)) replaceFile(unverifiedFile(context), JSON.stringify(unverified))
  else fs.rmSync(unverifiedFile(context), { force: true })
  return isGone
}

/** Records the predecessor and the number of the newest checkpoint, in case the newest one is lost. */
export function recordPrevious({ folder }: RepositoryContext, before: ObjectId | null, number: number): void {
  fs.writeFileSync(path.join(folder, 'before'), `${before ?? ''}\n${number}`)
}

/** Returns true if the session of this folder has made a checkpoint. */
export function hasRecordedPrevious(folder: string): boolean {
  return fs.existsSync(path.join(folder, 'before'))
}

/** Returns 0 for an unknown number: an earlier version recorded none. */
export function readPrevious({ folder }: RepositoryContext): { commit: ObjectId | null; number: number } {
  try {
    const [id = '', number = ''] = fs.readFileSync(path.join(folder, 'before'), 'latin1').split('\n')
    return { commit: isObjectId(id) ? id : null, number: /^\d{1,9}$/.test(number) ? Number(number) : 0 }
  } catch {
    return { commit: null, number: 0 } // Nothing is recorded yet.
  }
}

/** git keeps `gc.pid` during a collection, and itself treats an older file as stale. */
export function isGcRunning({ repository }: RepositoryContext): boolean {
  const stat = lstat(path.join(repository.commonDir, 'gc.pid'))
  return stat !== undefined && Date.now() - stat.mtimeMs < STALE_GC_AGE
}

/** A damaged file counts as none: if the checkpoint is broken, the next save fails and recovers the history. */
function readUnverified(context: RepositoryContext): UnverifiedCheckpoint | null {
  return readJsonCache(unverifiedFile(context), parseUnverified, MAX_RECORD_SIZE)
}

const parseUnverified: Parser<UnverifiedCheckpoint> = object({
  commit: objectId,
  before: nullable(objectId),
  objects: listOf(objectId),
})

/** Bytes; the record names each object of a checkpoint. */
const MAX_RECORD_SIZE = 64 * 1_048_576

function unverifiedFile({ folder }: RepositoryContext): string {
  return path.join(folder, 'suspect.json')
}
