import type { Place } from '../../place.ts'

/** Commits of the user's branch that are looked at; a squash that is older has been built upon long since. */
const MOST = '500'

/**
 * The newest commit of a branch that is in the user's branch by a squash: one of the user's commits has the same files, or names it as
 * `git merge --squash` does. Git itself knows nothing of it, and would merge the same work a second time. Null where there is none.
 */
export async function squashedIn({ git }: Place, head: string, theirs: string): Promise<string | null> {
  const ours = (await git.run(['log', '-z', `--max-count=${MOST}`, '--format=%T%n%B', `${theirs}..${head}`, '--']))
    .toString()
    .split('\0')
  const trees = new Set(ours.map(one => one.split('\n')[0]))
  const named = new Set(ours.flatMap(one => [...one.matchAll(/^commit ([0-9a-f]{40,64})$/gm)].map(([, id]) => id)))
  const log = (await git.run(['log', '--format=%H %T', `${head}..${theirs}`, '--'])).toString().trim().split('\n')
  const found = log.map(line => line.split(' ')).find(([id, tree]) => named.has(id) || trees.has(tree))
  return found?.[0] ?? null
}

/** As `git merge --squash` writes it, for the next landing to find. */
export function squashMessage(message: string, theirs: string): string {
  return `${message}\n\nSquashed commit of the following:\n\ncommit ${theirs}\n`
}
