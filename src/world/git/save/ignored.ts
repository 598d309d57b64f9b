import os from 'node:os'
import path from 'node:path'
import { joinRaw, type RawPath, splitRaw } from '../../../lib/raw-path.ts'
import type { Place } from '../place.ts'
import type { Look } from './look.ts'
import type { PrivateIndex } from './private-index.ts'
import { stampOf } from './sparse-mark.ts'

/**
 * What the private index has, HEAD has not, and is ignored by now: it was saved before somebody ignored it, or it was taken out
 * of the repository. What the user has added by force is not ignored. Only looked for when a rule may have changed.
 */
export async function findIgnored(place: Place, index: PrivateIndex, seen: Look): Promise<RawPath[]> {
  const newcomers = seen.differences.filter(({ staged, working }) => staged === 'A' && working !== 'D')
  const isSettled = index.notes?.rules === rulesMark(place, seen.head) && !seen.differences.some(isRule)
  if (newcomers.length === 0 || isSettled) return []
  // git 2.39: it refuses to take names literally, and takes those with a colon in front for a pattern.
  const input = joinRaw(newcomers.map(({ path }) => `./${path}`))
  const call = { input, env: { GIT_LITERAL_PATHSPECS: '0' } }
  const answer = await place.git.ask(['check-ignore', '-z', '--stdin'], call)
  // Without the user's index, where that is broken: what was added by force is then ignored as well.
  const isAnswered = answer.code === 0 || answer.code === 1
  const { stdout } = isAnswered ? answer : await place.git.ask(['check-ignore', '--no-index', '-z', '--stdin'], call)
  return splitRaw(stdout).map(path => path.slice(2))
}

/** Changes with HEAD, and with rules that do not lie in the working tree. */
export function rulesMark({ repository, git }: Place, head: string | null): string {
  const { XDG_CONFIG_HOME, HOME = os.homedir() } = git.means.env
  const everywhere = path.join(XDG_CONFIG_HOME || path.join(HOME, '.config'), 'git', 'ignore')
  return [head, stampOf(path.join(repository.commonDir, 'info', 'exclude')), stampOf(everywhere)].join(' ')
}

function isRule({ path, working }: { path: RawPath; working: string }): boolean {
  return working !== '.' && (path === '.gitignore' || path.endsWith('/.gitignore'))
}
