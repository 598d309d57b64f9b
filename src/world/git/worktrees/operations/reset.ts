import { rawPath } from '../../../../lib/text/raw-path.ts'
import type { Worktree } from '../../../../ports/worktrees.ts'
import { GitError } from '../../git-error.ts'
import type { RepositoryContext } from '../../repository-context.ts'
import { operationInProgress } from '../../repository.ts'
import { stageWorkingTree } from '../stage-working-tree.ts'
import { mergeEntry, failPermanently } from '../journal.ts'
import { backupRef } from '../context.ts'
import { resolveCommit, resolveObjects } from '../revisions/resolve-commits.ts'
import { diffTree } from '../revisions/diff-trees.ts'
import { backUpBranch } from '../backup-refs.ts'
import { undoUnfinishedMerge } from './merge.ts'
import { assertNothingLost, removeUntracked } from './merge.ts'

/** Moves a branch and its files to a commit. First it backs up work that nothing else refers to. */
export async function resetBranch(context: RepositoryContext, { branch }: Worktree, to: string): Promise<void> {
  const doing = `rewinding ${branch}`
  if (await isAlreadyReset(context, branch, to)) return
  await undoUnfinishedMerge(context)
  const target = (await resolveCommit(context.git, to)) ?? failPermanently(doing, `there is no commit ${to}`)
  const staged = await stageWorkingTree(context)
  await assertNothingLost(context, staged, { target, doing })
  await backUpLost(context, { branch, target, tree: staged.tree })
  const result = await context.git.runScript(RESET_SCRIPT, [`refs/heads/${branch}`, target])
  if (result.code !== 0) throw new GitError('reset', result)
  // Remove only backed-up files: no file that the backup left out, and none that appeared since.
  const added = (await diffTree(context, target, staged.tree)).filter(({ before }) => before === null)
  const kept = new Set(added.map(entry => entry.path))
  if (kept.size > 0) await removeUntracked(context, file => kept.has(file))
}

/** git fails if no rebase is in progress. */
const RESET_SCRIPT = `
git rebase --quit 2>/dev/null
git symbolic-ref HEAD "$1" || exit
git reset --quiet --hard "$2"
`

/** Returns true if the branch is checked out at that commit and the worktree is clean. */
async function isAlreadyReset(context: RepositoryContext, branch: string, to: string): Promise<boolean> {
  if (operationInProgress(context.repository.gitDir) !== null || mergeEntry(context).read() !== null) return false
  const { code, stdout } = await context.git.runScript(STATUS_SCRIPT, [`refs/heads/${to}^{commit}`, `${to}^{commit}`])
  const [target, ...lines] = rawPath(stdout).split(/[\n\0]/)
  const [oid, head, ...more] = lines.filter(line => line !== '' && !line.startsWith('# branch.upstream'))
  const isThat = oid === `# branch.oid ${target}` && head === `# branch.head ${branch}`
  return code === 0 && isThat && more.every(line => line.startsWith('# branch.'))
}

const STATUS_SCRIPT = `
git rev-parse --verify --quiet --end-of-options "$1" || git rev-parse --verify --quiet --end-of-options "$2" || exit
git status --porcelain=v2 --branch -z --no-ahead-behind --untracked-files=normal --no-renames --ignore-submodules=dirty
`

/** Backs up uncommitted files, and commits that no other ref reaches. */
async function backUpLost(
  context: RepositoryContext,
  going: { branch: string; target: string; tree: string },
): Promise<void> {
  const { git } = context
  const { branch, target, tree } = going
  const names = ['HEAD^{commit}', `refs/heads/${branch}`, 'HEAD^{tree}', backupRef(branch)]
  const [head = null, tip = null, whole, before = null] = await resolveObjects(git, names)
  const heads = [...new Set([head, tip].filter(commit => commit !== null))]
  // `--exclude` before `--branches` takes a name relative to refs/heads.
  const others = [`--exclude=${branch}`, '--branches', '--remotes', '--tags', `--glob=${backupRef(branch)}`]
  const lost = await git.runForLine(['rev-list', '--max-count=1', ...heads, '--not', target, ...others])
  const isDirty = head !== null && tree !== whole
  if (lost !== '' || isDirty) await backUpBranch(context, { ...going, heads, before })
}
