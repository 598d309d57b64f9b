import { rawPathBytes, splitRawPaths } from '../../../lib/text/raw-path.ts'
import { GitError } from '../git-error.ts'
import { ONESHOT_IDENTITY } from '../repository.ts'
import type { RepositoryContext } from '../repository-context.ts'
import { UPDATE_REF } from '../update-ref.ts'
import { readLog } from './inspect-checkout.ts'
import { WORK_REFS, backupRef } from './context.ts'
import { resolveCommit, resolveObjects } from './revisions/resolve-commits.ts'
import { diffTree } from './revisions/diff-trees.ts'
import { withTemporaryIndex } from './revisions/edit-tree.ts'
import type { Git } from '../git.ts'
import type { TreeFile } from '../../../ports/worktrees.ts'

const BACKUP_SUBJECT = 'oneshot: what was on'

/** The content of a branch before a reset. `heads`: its commits, the checked-out one first. */
export interface BranchBackup {
  readonly branch: string
  readonly target: string
  readonly heads: readonly string[]
  /** The previous backup. */
  readonly before: string | null
  readonly tree: string
}

/** Backs a branch up under one ref; the parents of the new commit are the branch's commits and the previous backup. */
export async function backUpBranch(
  { git }: RepositoryContext,
  { branch, target, heads, tree, before }: BranchBackup,
): Promise<void> {
  const parents = [...heads, ...(before === null ? [] : [before])].flatMap(parent => ['-p', parent])
  const input = `${BACKUP_SUBJECT} ${branch} before it went back to ${target}`
  const result = await git.runScript(BACK_UP_BRANCH, [backupRef(branch), tree, ...parents], {
    input,
    env: ONESHOT_IDENTITY,
  })
  if (result.code !== 0) throw new GitError('commit-tree', result)
}

const BACK_UP_BRANCH = `
ref=$1
shift
commit=$(git commit-tree "$@") || exit
git ${UPDATE_REF.join(' ')} "$ref" "$commit"
`

/** Removes the backup of a branch if a commit has all its commits in its history and all its file contents. */
export async function removeMergedBackup(context: RepositoryContext, branch: string, target: string): Promise<void> {
  const { git } = context
  const kept = backupRef(branch)
  const last = await resolveCommit(git, kept)
  if (last === null) return
  const commits = await readLog(context, [last, '--not', target, '--'])
  if (!commits.every(({ subject }) => subject.startsWith(BACKUP_SUBJECT))) return
  const present = await listBlobs(context, target)
  for (const { id } of commits) {
    const entries = await diffTree(context, `${id}^1`, id)
    if (entries.some(({ after }) => after !== null && !present.has(after))) return
  }
  await git.run([...UPDATE_REF, '-d', kept, last])
}

/** Parses `MODE TYPE HASH<tab>PATH`. */
async function listBlobs({ git }: RepositoryContext, commit: string): Promise<ReadonlySet<string>> {
  const lines = splitRawPaths(await git.run(['ls-tree', '-r', '-z', commit]))
  return new Set(lines.map(line => line.split(/[ \t]/, 3)[2] as string))
}

/** Protects a commit from garbage collection. */
export async function backUpCommit(git: Git, name: string, commit: string): Promise<void> {
  await git.run([...UPDATE_REF, `${WORK_REFS}/${name}`, commit])
}

/** Protects the targets of refs that somebody deleted or moved; skips missing objects. */
export async function backUpRefs(git: Git, name: string, refs: ReadonlyMap<string, string>): Promise<void> {
  const all = [...refs]
  const there = await resolveObjects(
    git,
    all.map(([, id]) => id),
  )
  const lines = all.flatMap(([ref, id], n) =>
    there[n] === null ? [] : [`update ${WORK_REFS}/${name}/${ref.slice('refs/'.length)}\0${id}\0\0`],
  )
  const input = Buffer.from(lines.join(''), 'latin1')
  if (lines.length > 0) await git.run([...UPDATE_REF, '--stdin', '-z'], { input })
}

/** Creates a tree of only these files. A ref with the tree's id in its name protects it. */
export async function backUpFiles(
  context: RepositoryContext,
  name: string,
  files: readonly TreeFile[],
): Promise<string> {
  const input = rawPathBytes(files.map(({ path, entry }) => `${entry}\t${path}\0`).join(''))
  const env = { ...ONESHOT_IDENTITY, GIT_AUTHOR_DATE: '@0 +0000', GIT_COMMITTER_DATE: '@0 +0000' }
  return withTemporaryIndex(context, async index => {
    const result = await context.git.runScript(BACK_UP_FILES, [`${WORK_REFS}/${name}`], { index, input, env })
    if (result.code !== 0) throw new GitError('update-index', result)
    return result.stdout.toString().trim()
  })
}

const BACK_UP_FILES = `
git update-index -z --index-info || exit
tree=$(git write-tree) || exit
commit=$(git commit-tree "$tree" -m 'oneshot: files that were lost' </dev/null) || exit
git ${UPDATE_REF.join(' ')} "$1-$tree" "$commit" || exit
echo "$tree"
`
