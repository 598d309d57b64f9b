import { Trouble } from '../../../../lib/errors.ts'
import { GitError } from '../../git-error.ts'
import { lstat } from '../../../../os/files/lstat-if-exists.ts'
import type { RepositoryContext } from '../../repository-context.ts'
import path from 'node:path'
import { undoUnfinishedMerge } from './merge.ts'
import { failPermanently } from '../journal.ts'
import { resolveObjects } from '../revisions/resolve-commits.ts'
import { withTemporaryIndex } from '../revisions/edit-tree.ts'
import { commitIdentity } from '../../repository.ts'

/** Commits only these paths, regardless of the index; returns the new HEAD. Does not commit ignored paths. */
export async function commitPaths(
  context: RepositoryContext,
  { paths, message, onto }: { paths: readonly string[]; message: string; onto: string | undefined },
): Promise<string> {
  await undoUnfinishedMerge(context)
  const { git } = context
  const [head = null, whole] = await resolveObjects(git, ['HEAD^{commit}', 'HEAD^{tree}'])
  if (head === null) return failPermanently('committing', 'there is no commit to follow')
  if (onto !== undefined && head !== onto)
    throw new Trouble('committing', `somebody has moved the branch to ${head.slice(0, 10)}`, { mayHelpToRetry: true })
  const known = await existingPaths(context, head, paths)
  if (known.length === 0) return head
  const tree = await withTemporaryIndex(context, async index => {
    const result = await git.runScript(ADD_SCRIPT, [head, ...known], { index })
    if (result.code !== 0) throw new GitError('add', result)
    return result.stdout.toString().trim()
  })
  const commit = tree === whole ? head : await commitToHead(context, { tree, parents: [head], message })
  await git.run(['reset', '--quiet', commit, '--', ...known])
  return commit
}

const ADD_SCRIPT = `
git read-tree "$1" || exit
shift
git add --all --force -- "$@" || exit
git write-tree
`

/** Returns the paths that exist on disk or in the last commit. */
async function existingPaths(
  { git, repository }: RepositoryContext,
  head: string,
  paths: readonly string[],
): Promise<string[]> {
  const known: string[] = []
  for (const name of paths) {
    const isCommitted = (await git.run(['ls-tree', '-z', head, '--', name])).length > 0
    if (isCommitted) known.push(name)
    else if (lstat(path.join(repository.top, name)) !== undefined && !(await isIgnored({ git }, name))) known.push(name)
  }
  return known
}

/** git 2.39: check-ignore rejects literal pathspecs, and treats a path with a leading colon as a pattern. */
async function isIgnored({ git }: Pick<RepositoryContext, 'git'>, name: string): Promise<boolean> {
  return (
    (await git.tryRun(['check-ignore', '--quiet', '--', `./${name}`], { env: { GIT_LITERAL_PATHSPECS: '0' } })).code ===
    0
  )
}

export interface CommitInput {
  readonly tree: string
  /** HEAD must equal the first parent. */
  readonly parents: readonly [string, ...string[]]
  readonly message: string
}

/** Commits a tree to HEAD; leaves index and files alone. */
export async function commitToHead(
  { git }: RepositoryContext,
  { tree, parents, message }: CommitInput,
): Promise<string> {
  const env = await commitIdentity(git)
  const note = `commit: ${message.split('\n')[0]}`
  const args = [note, parents[0], tree, ...parents.flatMap(parent => ['-p', parent])]
  const result = await git.runScript(COMMIT_SCRIPT, args, { input: message, env })
  if (result.code !== 0) throw new GitError('commit-tree', result)
  return result.stdout.toString().trim()
}

const COMMIT_SCRIPT = `
note=$1
before=$2
shift 2
commit=$(git commit-tree "$@") || exit
echo "$commit"
git update-ref -m "$note" HEAD "$commit" "$before"
`
