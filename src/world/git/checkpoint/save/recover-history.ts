import { setTimeout as pause } from 'node:timers/promises'
import type { ObjectId } from '../../../../core/checkpoint/object-id.ts'
import { displayPath, type RawPath } from '../../../../lib/text/raw-path.ts'
import { missingObjects } from '../../fsync-objects.ts'
import type { RepositoryContext } from '../../repository-context.ts'
import { updateRef } from '../../update-ref.ts'
import { readHistory, readHistoryUpTo, readRefTarget } from '../history.ts'
import { importCommits, type RewrittenCommit } from '../import-commits.ts'
import { type CheckpointCommit, checkpointHead, parseCheckpoint, readCommits } from '../read-commits.ts'
import { isGcRunning, readPrevious } from './gc-race.ts'
import { findLostPaths } from './lost-objects.ts'

/** Milliseconds. A full collection of a large repository takes longer, but is rare. */
const GC_TIMEOUT = 60_000
const POLL_INTERVAL = 100

/** The outcome of a recovery. */
export interface Recovery {
  /** Sentences about everything that the checkpoints have lost. */
  readonly losses: readonly string[]
  /** The number of the last checkpoint if no checkpoint is left; else 0. */
  readonly lastNumber: number
}

const NOTHING_LOST: Recovery = { losses: [], lastNumber: 0 }

/**
 * Recovers after a failure that a lost object may have caused: waits until no garbage collection runs, because it would
 * delete the next try as well. Then it rewrites the checkpoints without the lost files, since a ref that leads to a
 * missing object would break the user's `git gc`. It drops only checkpoints that have lost their commit or whole tree.
 */
export async function recoverHistory(context: RepositoryContext): Promise<Recovery> {
  const { signal } = context.git
  for (let waited = 0; waited < GC_TIMEOUT && isGcRunning(context); waited += POLL_INTERVAL) {
    await pause(POLL_INTERVAL, undefined, { signal })
  }
  const tip = await readRefTarget(context)
  if (tip === null || context.repository.isPartial) return NOTHING_LOST
  const history = await readReadableHistory(context, tip).catch(() => null) // The next caller gets the error.
  if (history === null) return NOTHING_LOST
  const newest = history.at(-1)
  const tipLoss = newest?.commit === tip ? [] : ['the newest checkpoint is lost: git no longer has its commit']
  if (newest !== undefined && !(await hasMissingObjects(context, newest.commit))) {
    if (newest.commit !== tip) await updateRef(context, newest.commit, tip)
    return { losses: tipLoss, lastNumber: 0 }
  }
  const { commit, losses } = await rewriteWithoutLost(context, history)
  await updateRef(context, commit, tip)
  const lastNumber = Math.max(newest?.trailers.number ?? 0, readPrevious(context).number)
  return { losses: [...tipLoss, ...losses], lastNumber: commit === null ? lastNumber : 0 }
}

/** Returns the history or, if its newest commit is missing, the history up to the recorded predecessor. */
async function readReadableHistory(context: RepositoryContext, tip: string): Promise<CheckpointCommit[]> {
  if ((await missingObjects(context, [tip])).length === 0) return readHistory(context)
  const { commit } = readPrevious(context)
  const [before] = commit === null ? [] : await readCommits(context.git, [commit])
  const checkpoint = before ? parseCheckpoint(before) : null
  return checkpoint === null ? [] : readHistoryUpTo(context, checkpoint)
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

/** Returns the newest commit of the rewritten history; null if no checkpoint is left. */
async function rewriteWithoutLost(
  context: RepositoryContext,
  history: readonly CheckpointCommit[],
): Promise<{ commit: ObjectId | null; losses: readonly string[] }> {
  const lost = await findLostPaths(
    context,
    history.map(({ tree }) => tree),
  )
  const raw = await readCommits(
    context.git,
    history.map(({ commit }) => commit),
  )
  const heads = raw.flatMap(one => (one === null ? [] : (checkpointHead(one) ?? [])))
  const missing = await missingObjects(context, [...new Set(heads)])
  const missingHeads = new Set(missing.map(line => line.split(' ')[0]))
  const rewritten = raw.flatMap((one): RewrittenCommit[] => {
    const removed = one === null ? null : (lost.get(one.tree) ?? null)
    if (one === null || removed === null) return []
    const head = checkpointHead(one)
    return [{ raw: one, removed, head: head !== null && missingHeads.has(head) ? null : head }]
  })
  const commits = rewritten.length === 0 ? [] : await importCommits(context, rewritten, null)
  return { commit: commits.at(-1) ?? null, losses: describeLosses(history, lost) }
}

function describeLosses(
  history: readonly CheckpointCommit[],
  lost: ReadonlyMap<string, readonly RawPath[] | null>,
): string[] {
  const whole = history.filter(({ tree }) => (lost.get(tree) ?? null) === null)
  const partly = history.filter(({ tree }) => (lost.get(tree) ?? []).length > 0)
  const paths = [...new Set(partly.flatMap(({ tree }) => lost.get(tree) ?? []))]
  const [first = '', ...more] = paths.map(displayPath)
  const files = more.length === 0 ? first : `${first} and ${more.length} more`
  return [
    ...(whole.length === 0 ? [] : [`${listNumbers(whole)} lost: git no longer has the files`]),
    ...(partly.length === 0 ? [] : [`${files} lost from ${listNumbers(partly)}: git no longer has the content`]),
  ]
}

function listNumbers(checkpoints: readonly CheckpointCommit[]): string {
  const numbers = checkpoints.map(({ trailers }) => trailers.number)
  const [first, last] = [numbers[0], numbers.at(-1)]
  return first === last ? `checkpoint ${first}` : `${numbers.length} of the checkpoints ${first} to ${last}`
}
