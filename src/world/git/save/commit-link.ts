import { GitFailed } from '../git-failed.ts'
import { OURS } from '../identity.ts'
import type { Link } from '../link.ts'
import { type Telling, writeMessage } from '../message.ts'
import type { Place } from '../place.ts'
import { moveRef } from '../ref.ts'
import { LATER, syncObjects } from './objects.ts'
import { isQuietSince, retreatWhenBroken } from './soundness.ts'

/**
 * Makes the commit and lets the ref lead to it, once all that it is made of has reached the disk. Its parents are the checkpoint
 * before and HEAD, so that whoever has the ref has the commits of that time as well.
 */
export async function commitLink(
  place: Place,
  given: {
    tree: string
    telling: Telling
    record: string
    last: Link | null
    objects: readonly string[]
    makeDurable: () => Promise<void>
    /** As it was before anything was written. */
    bustle: string
  },
): Promise<Link> {
  const { tree, telling, last } = given
  const [commit] = await Promise.all([commitTree(place, given), given.makeDurable()])
  await syncObjects(place, [commit])
  const before = last?.commit ?? null
  await moveRef(place, commit, before)
  const suspect = { commit, before, objects: [commit, ...given.objects] }
  if (!isQuietSince(place, given.bustle) && (await retreatWhenBroken(place, suspect))) {
    throw new GitFailed('gc', { code: 1, stderr: 'git gc took away what was saved' })
  }
  return { commit, tree, telling }
}

function commitTree(
  { git }: Place,
  { tree, telling, record, last }: { tree: string; telling: Telling; record: string; last: Link | null },
): Promise<string> {
  const parents = [last?.commit, telling.head].flatMap(parent => (parent ? ['-p', parent] : []))
  const seconds = `@${Math.floor(telling.at / 1000)} +0000`
  return git.line([...LATER, 'commit-tree', tree, ...parents], {
    input: writeMessage(telling, record),
    env: { ...OURS, GIT_AUTHOR_DATE: seconds, GIT_COMMITTER_DATE: seconds },
  })
}
