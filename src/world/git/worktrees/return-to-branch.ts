import { readIfPresent } from './inspect-checkout.ts'
import type { ReturnResult } from '../../../ports/worktrees.ts'
import { type RepositoryContext, readHead } from '../repository-context.ts'
import path from 'node:path'
import type { Snapshot } from '../../../core/loop/work-evidence.ts'
import { GitError } from '../git-error.ts'
import { operationInProgress } from '../repository.ts'
import { wasPointed } from './detect-checkout-damage.ts'
import { movesSince } from './evidence/reflog.ts'
import { isAncestor, resolveCommit } from './revisions/resolve-commits.ts'

/**
 * Returns the user's checkout to a branch that somebody has left. If the branch can fast-forward to the present HEAD,
 * no file changes; otherwise git checks the branch out, and refuses if that would overwrite something. If somebody only
 * pointed HEAD elsewhere, the files are still those of this branch: HEAD points back to it, and the branch does not
 * move. An operation in progress keeps its HEAD: `git rebase --continue` would add its commits to the wrong branch.
 */
export async function returnToBranch(
  context: RepositoryContext,
  branch: string,
  since: Pick<Snapshot, 'head' | 'reflog'> | null,
): Promise<ReturnResult> {
  const { git, repository } = context
  const ref = `refs/heads/${branch}`
  const now = readIfPresent(path.join(repository.gitDir, 'HEAD'))?.trim() ?? ''
  if (now === `ref: ${ref}`) return { kind: 'there' }
  const from = /^ref: refs\/heads\/(.*)$/.exec(now)?.[1] ?? 'no branch'
  const operation = operationInProgress(repository.gitDir)
  if (operation !== null) return { kind: 'in-progress', from, operation, abort: abortCommand(operation) }
  const base = since?.head ?? null
  const isPointed = wasPointed(repository.gitDir, since?.reflog ?? 0, from === 'no branch' ? null : from)
  const [head, tip] = [await readHead(context), await resolveCommit(git, ref)]
  const left = tip ?? base
  if (isPointed && tip !== null && !hasCommitted(repository.gitDir, since?.reflog ?? 0)) {
    await git.run(['symbolic-ref', '-m', 'oneshot: back to the branch', 'HEAD', ref])
    return { kind: 'pointed', from }
  }
  if (!isPointed && head !== null && (left === null || (await isAncestor(git, left, head)))) {
    const move = [ref, head, tip ?? repository.emptyIds.commit]
    await git.run(['update-ref', '-m', 'oneshot: work of another branch', ...move])
    await git.run(['symbolic-ref', '-m', 'oneshot: back to the branch', 'HEAD', ref])
    return { kind: 'followed', from }
  }
  if (tip === null && base !== null) await git.run(['update-ref', '-m', 'oneshot: the branch was gone', ref, base])
  const result = await git.tryRun(['checkout', '--quiet', '--no-guess', branch, '--'])
  if (result.code === 0) return { kind: 'returned', from, head }
  return { kind: 'stuck', from, why: new GitError('checkout', result).message }
}

/** `a rebase` becomes `git rebase --abort`. */
function abortCommand(operation: string): string {
  if (operation === 'a bisection') return 'git bisect reset'
  return `git ${operation.replace(/^a (?:git )?/, '')} --abort`
}

/** Returns true if HEAD moved other than by `git symbolic-ref`, which leaves at most an entry without a message. */
function hasCommitted(gitDir: string, since: number): boolean {
  return movesSince(gitDir, since)?.some(({ message }) => message !== '') === true
}
