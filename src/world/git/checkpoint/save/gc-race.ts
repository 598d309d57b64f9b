import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { replaceFile } from '../../../../os/files/file-io.ts'
import { readHistory, readHistoryUpTo, readRefTarget } from '../history.ts'
import type { CheckpointCommit } from '../commits.ts'
import { lstat } from '../../files.ts'
import type { RepositoryContext } from '../../repository-context.ts'
import { checkpointHead, parseCheckpoint, readCommits } from '../commits.ts'
import { updateRef } from '../../update-ref.ts'
import { missingObjects } from '../../objects.ts'
import { fileStamp } from './index-file.ts'

/** Milliseconds; the garbage of a large repository takes longer, but is seldom all collected at once. */
const GC_TIMEOUT = 60_000
const POLL_INTERVAL = 100
const STALE_GC_AGE = 12 * 3_600_000

/** A checkpoint that was made while somebody else was at work in the repository. */
interface UnverifiedCheckpoint {
  readonly commit: string
  readonly before: string | null
  readonly objects: readonly string[]
}

/**
 * Changes when somebody begins or ends to collect garbage, or does almost anything else in the repository: git puts a file into
 * its folder for it.
 */
export function readGitDirStamp({ repository }: RepositoryContext): string {
  return fileStamp(repository.commonDir)
}

export function isUnchangedSince(context: RepositoryContext, gitDirStamp: string): boolean {
  return readGitDirStamp(context) === gitDirStamp && !isGcRunning(context)
}

/**
 * Looks whether what was saved is still there. `git gc --prune=now` knows of no object that was made after it had begun, and
 * may take it away even after a ref has come to lead to it; so it is looked at once more when that is over. A ref that leads
 * nowhere would make the user's git stumble: it goes back to the checkpoint before. Answers whether it had to.
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
 * After a failure that may come from it: waits until nobody collects garbage any more, which would take away the next try as
 * well, and goes back to the newest checkpoint of which nothing is missing.
 */
export async function rollBackToIntact(context: RepositoryContext): Promise<void> {
  const { signal } = context.git
  for (let waited = 0; waited < GC_TIMEOUT && isGcRunning(context); waited += POLL_INTERVAL) {
    await pause(POLL_INTERVAL, undefined, { signal })
  }
  const tip = await readRefTarget(context)
  if (tip === null || context.repository.isPartial) return
  const history = await readIntactHistory(context, tip).catch(() => null) // Then the failure is told by whoever asks next.
  if (history === null) return
  for (const { commit } of history.reverse()) {
    if (await hasMissingObjects(context, commit)) continue
    return commit === tip ? undefined : updateRef(context, commit, tip)
  }
  await updateRef(context, null, tip)
}

/** The chain or, when its newest link is missing, what is known to come before that. */
async function readIntactHistory(context: RepositoryContext, tip: string): Promise<CheckpointCommit[]> {
  if ((await missingObjects(context, [tip])).length === 0) return readHistory(context)
  const [before] = await readCommits(context.git, readPrevious(context))
  const checkpoint = before ? parseCheckpoint(before) : null
  return checkpoint === null ? [] : readHistoryUpTo(context, checkpoint)
}

/** Notes down which link comes before the newest one, for the day on which that is missing. */
export function recordPrevious({ folder }: RepositoryContext, before: string | null): void {
  fs.writeFileSync(path.join(folder, 'before'), before ?? '')
}

function readPrevious({ folder }: RepositoryContext): string[] {
  try {
    return [/^[0-9a-f]{40,64}$/.exec(fs.readFileSync(path.join(folder, 'before'), 'latin1'))?.[0] ?? []].flat()
  } catch {
    return [] // Nothing was noted down yet.
  }
}

/** Only git's word that something is missing counts: a git that is killed or finds no memory says nothing about it. */
async function hasMissingObjects({ git }: RepositoryContext, commit: string): Promise<boolean> {
  const [raw] = await readCommits(git, [commit])
  const head = raw ? checkpointHead(raw) : null
  const known = head === null ? [] : ['--not', head]
  const result = await git.tryRun(['rev-list', '--objects', '--quiet', '-n', '1', commit, ...known])
  return result.code === 128 && /^fatal: (missing \w+ object|bad (tree )?object|unable to read)/m.test(result.stderr)
}

/** git notes for as long as it does; what is older than this, git itself takes for left behind. */
export function isGcRunning({ repository }: RepositoryContext): boolean {
  const stat = lstat(path.join(repository.commonDir, 'gc.pid'))
  return stat !== undefined && Date.now() - stat.mtimeMs < STALE_GC_AGE
}

function readUnverified(context: RepositoryContext): UnverifiedCheckpoint | null {
  try {
    return JSON.parse(fs.readFileSync(unverifiedFile(context), 'utf8')) as UnverifiedCheckpoint
  } catch {
    return null // There is none.
  }
}

function unverifiedFile({ folder }: RepositoryContext): string {
  return path.join(folder, 'suspect.json')
}
