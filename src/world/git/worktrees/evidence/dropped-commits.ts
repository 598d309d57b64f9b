import type { DroppedCommits, Snapshot } from '../../../../core/loop/work-evidence.ts'
import type { WorkerTrace } from '../../../../ports/worktrees.ts'
import type { RepositoryContext } from '../../repository-context.ts'
import { isAncestor } from '../revisions/resolve-commits.ts'
import { diffTreePairs } from '../revisions/diff-trees.ts'
import { readTrace } from './git-trace.ts'
import { type HeadMove, movesSince, wasRunningAt, workerMoves } from './reflog.ts'

/** More commits than this need no count. */
const MAX_COMMITS = 1_000
/** Moves of HEAD whose history is read; each takes a git process. */
const MAX_MOVES = 50

/**
 * Returns the commits from before the work that HEAD no longer contains; null if there are none. `added`: the commits
 * since then. If HEAD contains the earlier commit, that is a parent of one of them, and no git process is needed.
 */
export async function findDroppedCommits(
  context: RepositoryContext,
  { since, now, worker }: { since: Snapshot; now: Snapshot; worker: WorkerTrace | null },
  added: readonly { readonly parents: readonly string[] }[],
): Promise<DroppedCommits | null> {
  const { head } = since
  if (head === null || head === now.head || added.some(({ parents }) => parents.includes(head))) return null
  const { git, repository } = context
  const left = now.head === null ? [] : [`^${now.head}`]
  const output = await git.runForLine(['rev-list', `--max-count=${MAX_COMMITS}`, head, ...left, '--'])
  const ids = output.split('\n').filter(id => id !== '')
  if (ids.length === 0) return null
  const base = now.head === null ? '' : (await git.tryRun(['merge-base', head, now.head])).stdout.toString().trim()
  const [files] = await diffTreePairs(context, [[base || repository.emptyIds.tree, head]])
  return {
    ids,
    files: files ?? [],
    hasCommonBase: base !== '',
    isByWorker: await isByWorker(context, head, { since, worker }),
  }
}

/** Returns null if neither the reflog nor the trace of the worker shows who moved the branch. */
async function isByWorker(
  context: RepositoryContext,
  head: string,
  { since, worker }: { since: Snapshot; worker: WorkerTrace | null },
): Promise<boolean | null> {
  const { top } = context.repository
  const commands = worker === null ? [] : readTrace(worker.trace)
  if (worker === null || commands.length === 0) return null
  const rewriting = commands.filter(({ name, worktree }) => REWRITING_COMMANDS.has(name) && (worktree ?? top) === top)
  const move = await findDroppingMove(context, head, since.reflog ?? 0)
  if (move === null) return rewriting.length > 0 ? true : null
  // `git commit --amend`, or the first commit of an orphan branch.
  if (move.message.startsWith('commit')) return workerMoves([move], worker, context.repository).length > 0
  // A forged date proves nothing.
  const isForged = move.at < Math.floor(worker.since / 1000) || move.at > Date.now() / 1000
  return isForged ? rewriting.length > 0 : wasRunningAt(rewriting, move.at, move.at + 1)
}

/** Returns the last move from a commit that contains `head` to one that does not. */
async function findDroppingMove(context: RepositoryContext, head: string, size: number): Promise<HeadMove | null> {
  const moves = movesSince(context.repository.gitDir, size) ?? []
  let last: HeadMove | null = null
  for (const move of moves.slice(-MAX_MOVES).toReversed()) {
    if (await isAncestor(context.git, head, move.to)) break
    last = move
  }
  return last
}

/** Commands that can remove commits from a branch. */
const REWRITING_COMMANDS: ReadonlySet<string> = new Set([
  'reset',
  'rebase',
  'pull',
  'checkout',
  'switch',
  'branch',
  'update-ref',
  'symbolic-ref',
  'filter-branch',
  'fast-import',
])
