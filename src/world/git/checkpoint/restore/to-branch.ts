import fs from 'node:fs'
import { Refusal } from '../../../../lib/errors.ts'
import { joinBelow, rawPathBytes, parentFolders, type RawPath, displayPath } from '../../../../lib/text/raw-path.ts'
import { Trouble, errorMessage } from '../../../../lib/errors.ts'
import type { Git } from '../../git.ts'
import { gitForCheckout } from '../../lazy-fetch-record.ts'
import { commitIdentity } from '../../repository.ts'
import type { CheckpointCommit } from '../read-commits.ts'
import { lstat } from '../../../../os/files/lstat-if-exists.ts'
import type { NestedRepository } from '../commit-message.ts'
import type { RepositoryContext } from '../../repository-context.ts'
import { readNestedState, readSharedNestedState } from '../history.ts'
import { assertTreeFits } from '../assert-restore-fits-disk.ts'

export interface RestoreDestination {
  readonly branch: string
  readonly worktree: string | null
}

/**
 * Restores a checkpoint to a new branch and optionally into a new worktree. Returns sentences about everything that it
 * could not restore.
 */
export async function restoreToBranch(
  context: RepositoryContext,
  checkpoint: CheckpointCommit,
  to: RestoreDestination,
): Promise<string[]> {
  const { git, repository, umask } = context
  const doing = `restoring checkpoint ${checkpoint.trailers.number} onto ${to.branch}`
  await assertBranchName(git, to.branch)
  if (to.worktree !== null && hasFiles(to.worktree)) refuse(`${to.worktree} exists already`, 'give another --worktree')
  await assertTreeFits(context, checkpoint.tree)
  const subject = `oneshot: checkpoint ${checkpoint.trailers.number} (${checkpoint.trailers.trigger})`
  const ref = `refs/heads/${to.branch}`
  const isThere = await isBranchAt(git, ref, { tree: checkpoint.tree, head: checkpoint.trailers.head, subject })
  const commit = isThere ? null : await commitTree(git, { ...checkpoint, head: checkpoint.trailers.head, subject })
  if (commit !== null) await git.run(['update-ref', '-m', subject, ref, commit, repository.emptyIds.commit])
  if (to.worktree === null) return checkpoint.trailers.nested.map(describeUnrestored)
  await removeMissingWorktree(git, to.worktree)
  try {
    await (await gitForCheckout(context)).run(['worktree', 'add', '--', to.worktree, to.branch], { umask })
  } catch (cause) {
    if (commit !== null) await git.run(['update-ref', '-d', ref, commit])
    throw new Trouble(doing, cause)
  }
  return restoreNested(context, checkpoint, to.worktree)
}

async function assertBranchName(git: Git, branch: string): Promise<void> {
  const { code } = await git.tryRun(['check-ref-format', `refs/heads/${branch}`])
  if (code !== 0 || branch.startsWith('-'))
    throw new Refusal('usage', `${JSON.stringify(branch)} is no name for a branch`, 'give another --branch')
}

/** Returns true if the branch already has the wanted content. Refuses if it has other content. */
async function isBranchAt(
  git: Git,
  ref: string,
  wanted: { tree: string; head: string | null; subject: string },
): Promise<boolean> {
  const output = await git.runForLine(['for-each-ref', '--format=%(tree)%00%(parent)%00%(contents:subject)', '--', ref])
  if (output === '') return false
  if (output !== [wanted.tree, wanted.head ?? '', wanted.subject].join('\0'))
    refuse(
      `the branch ${ref.replace('refs/heads/', '')} exists already, and is something else`,
      'give another --branch',
    )
  return true
}

function refuse(why: string, remedy: string): never {
  throw new Refusal('cannot-restore', why, remedy)
}

function hasFiles(folder: string): boolean {
  const stat = fs.statSync(folder, { throwIfNoEntry: false })
  return stat !== undefined && (!stat.isDirectory() || fs.readdirSync(folder).length > 0)
}

async function commitTree(git: Git, of: { tree: string; head: string | null; subject: string }): Promise<string> {
  const parent = of.head === null ? [] : ['-p', of.head]
  return git.runForLine(['commit-tree', of.tree, ...parent], { input: of.subject, env: await commitIdentity(git) })
}

/** git keeps a worktree registered after somebody removed its folder, and refuses to create another one there. */
async function removeMissingWorktree(git: Git, worktree: string): Promise<void> {
  if (!fs.existsSync(worktree)) await git.tryRun(['worktree', 'remove', '--', worktree])
}

/** Each nested repository gets its own worktree inside the new one, with a detached HEAD. */
async function restoreNested(
  context: RepositoryContext,
  checkpoint: CheckpointCommit,
  worktree: string,
): Promise<string[]> {
  const unable: string[] = []
  const top = fs.realpathSync(worktree)
  for (const nested of checkpoint.trailers.nested) {
    try {
      const state = (await readNestedState(context, nested)) ?? (await readSharedNestedState(context, nested))
      if (state === null || !(await isFree(context, checkpoint.tree, top, nested.path))) {
        unable.push(describeUnrestored(nested))
        continue
      }
      const { git, umask } = state.context
      await assertTreeFits(state.context, state.tree)
      const subject = `oneshot: checkpoint ${checkpoint.trailers.number} (${checkpoint.trailers.trigger})`
      const commit = typeof nested.state === 'string' ? nested.state : await commitTree(git, { ...state, subject })
      // `--force`: an earlier worktree at this path that somebody removed by hand is still registered.
      const add = ['worktree', 'add', '--force', '--detach', '--', joinBelow(top, nested.path).toString(), commit]
      await (await gitForCheckout(state.context)).run(add, { umask })
    } catch (cause) {
      unable.push(`${describeUnrestored(nested)}: ${errorMessage(cause)}`)
    }
  }
  return unable
}

/**
 * * Returns true if a restore may place a nested repository at this path: the checkpoint has a repository or nothing
 * there, and no parent folder is a link. The path may come from a remote, and so may the files that git has just
 * checked out.
 */
async function isFree({ git }: RepositoryContext, tree: string, top: string, nested: RawPath): Promise<boolean> {
  const entry = (await git.run(['ls-tree', '-z', tree, '--', rawPathBytes(nested).toString()])).toString()
  if (entry !== '' && !entry.startsWith('160000 ')) return false
  if (parentFolders(nested).some(folder => lstat(joinBelow(top, folder))?.isDirectory() === false)) return false
  const stat = lstat(joinBelow(top, nested))
  return stat === undefined || (stat.isDirectory() && fs.readdirSync(joinBelow(top, nested)).length === 0)
}

export function describeUnrestored({ path }: NestedRepository): string {
  return `the repository ${displayPath(path)} is not restored`
}
