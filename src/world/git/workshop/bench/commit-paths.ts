import { Trouble } from '../../../../lib/trouble.ts'
import { GitFailed } from '../../git-failed.ts'
import { lstat } from '../../lstat.ts'
import type { Place } from '../../place.ts'
import path from 'node:path'
import { commitOn } from './commit-on.ts'
import { settle } from './merge.ts'
import { refuse } from '../notes.ts'
import { objectsAt } from '../shop.ts'
import { withIndex } from '../tree-without.ts'

/** Commits some paths and nothing else, whatever is staged; answers where HEAD is then. Those that git ignores are not committed. */
export async function commitPaths(
  place: Place,
  { paths, message, onto }: { paths: readonly string[]; message: string; onto: string | undefined },
): Promise<string> {
  await settle(place)
  const { git } = place
  const [head = null, whole] = await objectsAt(git, ['HEAD^{commit}', 'HEAD^{tree}'])
  if (head === null) return refuse('committing', 'there is no commit to follow')
  if (onto !== undefined && head !== onto)
    throw new Trouble('committing', `somebody has moved the branch to ${head.slice(0, 10)}`, { mayHelpToRetry: true })
  const known = await knownOf(place, head, paths)
  if (known.length === 0) return head
  const tree = await withIndex(place, async index => {
    const answer = await git.script(TAKE, [head, ...known], { index })
    if (answer.code !== 0) throw new GitFailed('add', answer)
    return answer.stdout.toString().trim()
  })
  const commit = tree === whole ? head : await commitOn(place, { tree, parents: [head], message })
  await git.run(['reset', '--quiet', commit, '--', ...known])
  return commit
}

const TAKE = `
git read-tree "$1" || exit
shift
git add --all --force -- "$@" || exit
git write-tree
`

/** Those that there are, here or in the last commit. */
async function knownOf({ git, repository }: Place, head: string, paths: readonly string[]): Promise<string[]> {
  const known: string[] = []
  for (const name of paths) {
    const isCommitted = (await git.run(['ls-tree', '-z', head, '--', name])).length > 0
    if (isCommitted) known.push(name)
    else if (lstat(path.join(repository.top, name)) !== undefined && !(await isIgnored({ git }, name))) known.push(name)
  }
  return known
}

/** git 2.39 refuses to take names literally here, and takes those with a colon in front for a pattern. */
async function isIgnored({ git }: Pick<Place, 'git'>, name: string): Promise<boolean> {
  return (
    (await git.ask(['check-ignore', '--quiet', '--', `./${name}`], { env: { GIT_LITERAL_PATHSPECS: '0' } })).code === 0
  )
}
