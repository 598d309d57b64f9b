import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { joinBelow, rawPathBytes, joinRawPaths, displayPath } from '../../../../lib/text/raw-path.ts'
import { unlinkBelow } from '../../../../os/files/remove-tree.ts'
import { readHead } from '../../repository-context.ts'
import { lstat } from '../../../../os/files/lstat-if-exists.ts'
import type { RepositoryContext } from '../../repository-context.ts'
import { stageWorkingTree } from '../stage-working-tree.ts'
import { type LandingRecord, landingEntry, failPermanently } from '../journal.ts'
import { diffTree, type TreeChange } from '../revisions/diff-trees.ts'

/** Milliseconds after which a lock from the time of the landing counts as that of our killed git. */
const STALE_LOCK_AGE = 5_000
const POLL_INTERVAL = 50

/**
 * Undoes a killed call's changes to the user's files, all of which equalled HEAD before. If a file is no part of the
 * target's version, the user has changed it since: then it refuses, and changes nothing.
 */
export async function undoLanding(context: RepositoryContext, doing: string): Promise<void> {
  const entry = landingEntry(context)
  const begun = entry.read()
  if (begun === null) return
  const isMoved = (await readHead(context)) !== begun.head
  await removeOwnLocks(context, begun, isMoved)
  if (!isMoved) await restoreFiles(context, begun, doing)
  entry.remove()
}

async function restoreFiles(context: RepositoryContext, { head, target }: LandingRecord, doing: string): Promise<void> {
  const { git, repository } = context
  const moving = await diffTree(context, head, target)
  const { tree } = await stageWorkingTree(context)
  const changed = new Map((await diffTree(context, head, tree)).map(entry => [entry.path, entry.after]))
  const touched = moving.filter(entry => changed.has(entry.path) || isNewThere(context, entry))
  for (const entry of touched) {
    if (changed.get(entry.path) === entry.after || (await isPartOfTarget(context, entry))) continue
    failPermanently(
      doing,
      `${displayPath(entry.path)} was changed after landing was interrupted: restore or commit it first`,
    )
  }
  for (const entry of touched.filter(({ before }) => before === null)) {
    unlinkBelow(repository.top, rawPathBytes(entry.path))
  }
  const list = (entries: readonly TreeChange[]): Buffer => joinRawPaths(entries.map(entry => entry.path))
  if (moving.length === 0) return
  const paths = ['--pathspec-from-file=-', '--pathspec-file-nul']
  await git.run(['reset', '--quiet', ...paths, head], { input: list(moving) })
  const back = touched.filter(({ before }) => before !== null)
  await git.run(['checkout-index', '--quiet', '--force', '-z', '--stdin'], { input: list(back) })
}

/** Returns true for a new file of the target that exists, even if git ignores it. */
function isNewThere({ repository }: RepositoryContext, entry: TreeChange): boolean {
  return entry.before === null && lstat(joinBelow(repository.top, entry.path)) !== undefined
}

/** Returns true if the file is missing, or is a beginning of the target's version. */
async function isPartOfTarget(
  { git, repository }: RepositoryContext,
  { path: file, after }: TreeChange,
): Promise<boolean> {
  const place = joinBelow(repository.top, file)
  const stat = lstat(place)
  if (stat === undefined) return true
  if (after === null || stat.isDirectory()) return false
  if (stat.isSymbolicLink())
    return (await git.run(['cat-file', 'blob', after])).equals(fs.readlinkSync(place, { encoding: 'buffer' }))
  const isText = Buffer.from(displayPath(file)).equals(rawPathBytes(file))
  const args = isText ? ['--filters', `--path=${displayPath(file)}`] : ['blob']
  const whole = await git.run(['cat-file', ...args, after])
  const found = fs.readFileSync(place)
  return whole.subarray(0, found.length).equals(found)
}

/**
 * git writes the index before it moves HEAD, and then releases the locks of HEAD and of the branch. Nothing else
 * removes the locks of a killed git, and until then neither we nor the user can commit.
 */
async function removeOwnLocks(context: RepositoryContext, { ref }: LandingRecord, isMoved: boolean): Promise<void> {
  const { gitDir, commonDir } = context.repository
  const since = lstat(landingEntry(context).file)?.mtimeMs ?? 0
  const names = ['HEAD.lock', 'ORIG_HEAD.lock', ...(isMoved ? [] : ['index.lock'])]
  const locks = names.map(name => path.join(gitDir, name))
  for (const lock of ref === null ? locks : [...locks, path.join(commonDir, `${ref}.lock`)]) {
    await removeOwnLock(lock, since, context.git.signal)
  }
}

async function removeOwnLock(lock: string, since: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    const stat = lstat(lock)
    if (stat === undefined) return
    if (stat.mtimeMs < since) return // The user's lock, from before: git reports it.
    if (Date.now() - stat.mtimeMs > STALE_LOCK_AGE) return fs.rmSync(lock, { force: true })
    await pause(POLL_INTERVAL, undefined, { signal })
  }
}
