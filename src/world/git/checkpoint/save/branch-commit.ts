import { type RawPath, displayPath, joinBelow, splitRawPaths } from '../../../../lib/text/raw-path.ts'
import type { Instant } from '../../../../lib/time.ts'
import { errorMessage, hasCode } from '../../../../lib/errors.ts'
import { commitIdentity, operationInProgress } from '../../repository.ts'
import type { RepositoryContext } from '../../repository-context.ts'
import type { StagedChanges } from './stage-changes.ts'
import type { SaveOptions } from './save-types.ts'
import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { lstat } from '../../../../os/files/lstat-if-exists.ts'
import { copyIndex, fileStamp } from './index-file.ts'

/** The new HEAD, or the reason why HEAD did not move. */
export interface BranchCommit {
  readonly head: string | null
  readonly note?: string
}

/**
 * Commits a tree on the current branch, as `git commit --all` would, and updates the user's index. Changes neither if
 * the repository is not in a state for a commit.
 */
export async function commitOnBranch(
  context: RepositoryContext,
  tree: string,
  staged: StagedChanges,
  options: SaveOptions,
): Promise<BranchCommit> {
  try {
    return await tryCommit(context, tree, staged, options.request.at)
  } catch (cause) {
    if (context.git.signal.aborted) throw cause
    return { head: staged.status.head, note: `there is no visible commit: ${errorMessage(cause)}` }
  }
}

async function tryCommit(
  context: RepositoryContext,
  tree: string,
  { status, rejected }: StagedChanges,
  at: Instant,
): Promise<BranchCommit> {
  const { head } = status
  const { git, repository } = context
  const branch = (await git.tryRun(['symbolic-ref', '--quiet', 'HEAD'])).stdout.toString().trim()
  const objection = reasonNotToCommit(repository.gitDir, branch)
  if (objection !== null) return { head, note: `there is no visible commit: ${objection}` }
  if (head !== null && (await git.runForLine(['rev-parse', `${head}^{tree}`])) === tree) return { head }
  // A commit would undo both: files of a pulled commit that git could not read, and files that the user has staged.
  if (rejected[0] !== undefined) throw new Error(rejected[0])
  const [staged] = await stagedOutside(context, tree)
  if (staged !== undefined) throw new Error(`${displayPath(staged)} is staged, and is not part of the checkpoint`)
  const subject = `WIP: checkpoint ${formatTime(at)}`
  const parent = head === null ? [] : ['-p', head]
  const env = await commitIdentity(git)
  const commit = await git.runForLine(['commit-tree', tree, ...parent], { input: subject, env })
  const move = ['update-ref', '-m', `commit: ${subject}`, 'HEAD', commit, head ?? repository.emptyIds.commit]
  await replaceUserIndex(context, tree, () => git.run(move, { env }))
  return { head: commit }
}

function reasonNotToCommit(gitDir: string, branch: string): string | null {
  if (branch === '') return 'no branch is checked out'
  const what = operationInProgress(gitDir)
  return what === null ? null : `${what} is under way`
}

function formatTime(at: Instant): string {
  const time = new Date(at)
  return [time.getHours(), time.getMinutes()].map(part => String(part).padStart(2, '0')).join('')
}

/**
 * Replaces the user's index by an index of this tree while `action` runs. Other git processes see a locked index
 * meanwhile. The lock is a hard link to the new index, so that we can recognise a leftover lock as ours.
 */
async function replaceUserIndex(
  context: RepositoryContext,
  tree: string,
  action: () => Promise<unknown>,
): Promise<void> {
  const { index, lock } = userIndexFiles(context)
  const draft = `${index}.${draftPrefix(context)}${crypto.randomBytes(4).toString('hex')}`
  const before = fileStamp(index)
  try {
    await writeDraft(context, tree, draft)
    lockIndex(draft, lock)
    try {
      if (fileStamp(index) !== before) throw new Error('the index was changed at the same time')
      await action()
      fs.renameSync(draft, index)
    } finally {
      fs.rmSync(lock, { force: true })
    }
  } finally {
    fs.rmSync(draft, { force: true })
  }
}

/**
 * * Repairs the user's index after oneshot was killed during a replacement: a draft that matches the present HEAD
 * becomes the index, and the repair removes any other draft. Our lock, if it exists, has kept other processes away.
 */
export async function repairUserIndex(context: RepositoryContext): Promise<void> {
  const { index, lock } = userIndexFiles(context)
  const { gitDir } = context.repository
  const drafts = fs.readdirSync(gitDir).filter(name => name.startsWith(`index.${draftPrefix(context)}`))
  for (const draft of drafts.map(name => path.join(gitDir, name))) {
    const isLocked = isSameFile(draft, lock)
    if (isLocked && (await matchesHead(context, draft))) fs.renameSync(draft, index)
    if (isLocked) fs.rmSync(lock, { force: true })
    fs.rmSync(draft, { force: true })
  }
  if (isSameFile(index, lock)) fs.rmSync(lock, { force: true })
}

/** Returns true if both paths name the same file. */
function isSameFile(one: string, other: string): boolean {
  const [first, second] = [lstat(one), lstat(other)]
  return first !== undefined && first.ino === second?.ino
}

async function matchesHead({ git }: RepositoryContext, index: string): Promise<boolean> {
  return (await git.tryRun(['diff-index', '--cached', '--quiet', 'HEAD'], { index })).code === 0
}

/** Returns files that the user has staged and that exist but are not in the tree: the commit would unstage them. */
async function stagedOutside({ git, repository }: RepositoryContext, tree: string): Promise<RawPath[]> {
  const args = ['diff-index', '--cached', '--no-renames', '--diff-filter=A', '--name-only', '-z', tree]
  const staged = splitRawPaths(await git.run(args))
  return staged.filter(path => lstat(joinBelow(repository.top, path)) !== undefined)
}

/** Keeps the user's index entries for files that are in both. */
async function writeDraft({ git, repository }: RepositoryContext, tree: string, draft: string): Promise<void> {
  const whole = ['-c', 'index.skipHash=false']
  copyIndex(path.join(repository.gitDir, 'index'), draft)
  await git.run([...whole, 'read-tree', '-i', '-m', tree], { index: draft })
  // Its exit code reports files that changed meanwhile.
  await git.tryRun([...whole, 'update-index', '-q', '--refresh'], { index: draft })
}

function lockIndex(draft: string, lock: string): void {
  try {
    fs.linkSync(draft, lock)
  } catch (cause) {
    throw hasCode(cause, 'EEXIST') ? new Error('the index is locked by another git process') : cause
  }
}

function userIndexFiles({ repository }: RepositoryContext): { index: string; lock: string } {
  const index = path.join(repository.gitDir, 'index')
  return { index, lock: `${index}.lock` }
}

function draftPrefix({ sessionId }: RepositoryContext): string {
  return `oneshot-${sessionId}-`
}
