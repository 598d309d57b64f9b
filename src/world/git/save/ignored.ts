import { joinRaw, type RawPath, splitRaw } from '../../../lib/raw-path.ts'
import type { Place } from '../place.ts'
import type { Look } from './look.ts'

/**
 * What the private index has, HEAD has not, and is ignored by now: it was saved before somebody ignored it, or it was taken out
 * of the repository. What the user has added by force is not ignored.
 */
export async function findIgnored(place: Place, seen: Look): Promise<RawPath[]> {
  const newcomers = seen.differences.filter(({ staged, working }) => staged === 'A' && working !== 'D')
  if (newcomers.length === 0) return []
  // git 2.39: it refuses to take names literally, and takes those with a colon in front for a pattern.
  const input = joinRaw(newcomers.map(({ path }) => `./${path}`))
  const call = { input, env: { GIT_LITERAL_PATHSPECS: '0' } }
  const answer = await place.git.ask(['check-ignore', '-z', '--stdin'], call)
  // Without the user's index, where that is broken: what was added by force is then ignored as well.
  const isAnswered = answer.code === 0 || answer.code === 1
  const { stdout } = isAnswered ? answer : await place.git.ask(['check-ignore', '--no-index', '-z', '--stdin'], call)
  return splitRaw(stdout).map(path => path.slice(2))
}
