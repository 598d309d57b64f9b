import { GitFailed } from '../git-failed.ts'
import { OURS } from '../identity.ts'
import type { Link } from '../link.ts'
import { type Telling, writeMessage } from '../message.ts'
import type { Place } from '../place.ts'
import { moveRef } from '../ref.ts'
import { LATER, syncObjects } from './objects.ts'
import { isCollecting, retreatFromBroken, suspect } from './suspect.ts'

/**
 * Makes the commit and lets the ref lead to it. What it is made of has reached the disk already. Its parents are the checkpoint
 * before and HEAD, so that whoever has the ref has the commits of that time as well.
 */
export async function commitLink(
  place: Place,
  given: { tree: string; telling: Telling; record: string; last: Link | null; objects: readonly string[] },
): Promise<Link> {
  const { tree, telling, last } = given
  const parents = [last?.commit, telling.head].flatMap(parent => (parent ? ['-p', parent] : []))
  const seconds = `@${Math.floor(telling.at / 1000)} +0000`
  const commit = await place.git.line([...LATER, 'commit-tree', tree, ...parents], {
    input: writeMessage(telling, given.record),
    env: { ...OURS, GIT_AUTHOR_DATE: seconds, GIT_COMMITTER_DATE: seconds },
  })
  await syncObjects(place, [commit])
  const wasCollecting = isCollecting(place)
  await moveRef(place, commit, last?.commit ?? null)
  if (wasCollecting || isCollecting(place)) {
    suspect(place, { commit, before: last?.commit ?? null, objects: [commit, ...given.objects] })
    if (await retreatFromBroken(place))
      throw new GitFailed('gc', { code: 1, stderr: 'git gc took away what was saved' })
  }
  return { commit, tree, telling }
}
