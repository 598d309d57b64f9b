import { GitFailed } from '../../git-failed.ts'
import { identityIn } from '../../identity.ts'
import type { Place } from '../../place.ts'

export interface Making {
  readonly tree: string
  /** The first one is what HEAD must be. */
  readonly parents: readonly [string, ...string[]]
  readonly message: string
}

/** Commits a tree to what is checked out; index and files are left alone. */
export async function commitOn({ git }: Place, { tree, parents, message }: Making): Promise<string> {
  const env = await identityIn(git)
  const note = `commit: ${message.split('\n')[0]}`
  const words = [note, parents[0], tree, ...parents.flatMap(parent => ['-p', parent])]
  const answer = await git.script(COMMIT, words, { input: message, env })
  if (answer.code !== 0) throw new GitFailed('commit-tree', answer)
  return answer.stdout.toString().trim()
}

const COMMIT = `
note=$1
before=$2
shift 2
commit=$(git commit-tree "$@") || exit
echo "$commit"
git update-ref -m "$note" HEAD "$commit" "$before"
`
