import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { isObjectId, type ObjectId, objectId } from '../../../../core/checkpoint/object-id.ts'
import { listOf, nullable, object, type Parser } from '../../../../lib/codec.ts'
import { replaceFile } from '../../../../os/files/file-io.ts'
import { readJsonCache } from '../../../../os/files/json-file.ts'
import { readHistory, readHistoryUpTo, readRefTarget } from '../history.ts'
import type { CheckpointCommit } from '../read-commits.ts'
import { lstat } from '../../files.ts'
import type { RepositoryContext } from '../../repository-context.ts'
import { checkpointHead, parseCheckpoint, readCommits } from '../read-commits.ts'
import { updateRef } from '../../update-ref.ts'
import { missingObjects } from '../../fsync-objects.ts'
import { fileStamp } from './index-file.ts'

/** Milliseconds. A full collection of a large repository takes longer, but is rare. */
const GC_TIMEOUT = 60_000
const POLL_INTERVAL = 100
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

/**
 * Recovers after a failure that `git gc` may have caused: waits until no collection runs, because it would delete the
 * next try as well, and moves the ref back to the newest complete checkpoint.
 */
export async function rollBackToIntact(context: RepositoryContext): Promise<void> {
  const { signal } = context.git
  for (let waited = 0; waited < GC_TIMEOUT && isGcRunning(context); waited += POLL_INTERVAL) {
    await pause(POLL_INTERVAL, undefined, { signal })
  }
  const tip = await readRefTarget(context)
  if (tip === null || context.repository.isPartial) return
  const history = await readIntactHistory(context, tip).catch(() => null) // The next caller gets the error.
  if (history === null) return
  for (const { commit } of history.reverse()) {
    if (await hasMissingObjects(context, commit)) continue
    return commit === tip ? undefined : updateRef(context, commit, tip)
  }
  await updateRef(context, null, tip)
}

/** Returns the history or, if its newest commit is missing, the history up to the recorded predecessor. */
async function readIntactHistory(context: RepositoryContext, tip: string): Promise<CheckpointCommit[]> {
  if ((await missingObjects(context, [tip])).length === 0) return readHistory(context)
  const [before] = await readCommits(context.git, readPrevious(context))
  const checkpoint = before ? parseCheckpoint(before) : null
  return checkpoint === null ? [] : readHistoryUpTo(context, checkpoint)
}

/** Records the predecessor of the newest checkpoint, in case the newest one is lost. */
export function recordPrevious({ folder }: RepositoryContext, before: ObjectId | null): void {
  fs.writeFileSync(path.join(folder, 'before'), before ?? '')
}

function readPrevious({ folder }: RepositoryContext): ObjectId[] {
  try {
    return [fs.readFileSync(path.join(folder, 'before'), 'latin1')].filter(isObjectId)
  } catch {
    return [] // Nothing is recorded yet.
  }
}

/**
 * Only git's own error message proves a missing object: a git process that was killed or ran out of memory proves
 * nothing.
 */
async function hasMissingObjects({ git }: RepositoryContext, commit: string): Promise<boolean> {
  const [raw] = await readCommits(git, [commit])
  const head = raw ? checkpointHead(raw) : null
  const known = head === null ? [] : ['--not', head]
  const result = await git.tryRun(['rev-list', '--objects', '--quiet', '-n', '1', commit, ...known])
  return result.code === 128 && /^fatal: (missing \w+ object|bad (tree )?object|unable to read)/m.test(result.stderr)
}

/** git keeps `gc.pid` during a collection, and itself treats an older file as stale. */
export function isGcRunning({ repository }: RepositoryContext): boolean {
  const stat = lstat(path.join(repository.commonDir, 'gc.pid'))
  return stat !== undefined && Date.now() - stat.mtimeMs < STALE_GC_AGE
}

/** A damaged file counts as none: if the checkpoint is broken, the next save fails and finds the newest intact one. */
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
