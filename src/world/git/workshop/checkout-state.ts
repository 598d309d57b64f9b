import fs from 'node:fs'
import path from 'node:path'
import { commandLine } from '../../../lib/quote.ts'
import { type RawPath, rawPath, shown, splitRaw } from '../../../lib/raw-path.ts'
import type { Hindrance } from '../../../ports/workshop.ts'
import type { Git } from '../git.ts'
import { gitFolderIn } from '../guard/git-folder.ts'
import type { Place } from '../place.ts'
import { topAt } from '../repository.ts'
import { movesSince } from './reflog.ts'

/** Settings by which git does not take the files around `.git` for its working tree. They count in no file but these two. */
export async function hindrancesOf(git: Git): Promise<readonly Hindrance[]> {
  const top = topAt(git.cwd)?.top
  const folder = top === undefined ? null : gitFolderIn(top)
  // In a linked working tree git does not heed them.
  if (top === undefined || folder === null || folder.own !== folder.shared) return []
  const shared = path.join(folder.shared, 'config')
  const own = path.join(folder.own, 'config.worktree')
  const isPerTree = (await valueIn(git, shared, 'extensions.worktreeConfig', '--type=bool')) === 'true'
  const files = isPerTree ? [shared, own] : [shared]
  return (await Promise.all(files.map(file => hindrancesIn(git, top, file)))).flat()
}

async function hindrancesIn(git: Git, top: string, file: string): Promise<Hindrance[]> {
  const found: Hindrance[] = []
  const config = ['git', 'config', '--file', file]
  if ((await valueIn(git, file, 'core.bare', '--type=bool')) === 'true')
    found.push({ what: 'core.bare=true', cure: commandLine([...config, 'core.bare', 'false']) })
  const elsewhere = await valueIn(git, file, 'core.worktree')
  if (elsewhere !== null && path.resolve(path.dirname(file), elsewhere) !== top)
    found.push({
      what: `core.worktree=${shown(rawPath(Buffer.from(elsewhere)))}`,
      cure: commandLine([...config, '--unset-all', 'core.worktree']),
    })
  return found
}

async function valueIn(git: Git, file: string, key: string, ...how: string[]): Promise<string | null> {
  const { code, stdout } = await git.ask(['config', '--file', file, ...how, '--get', key])
  return code === 0 ? stdout.toString().replace(/\n$/, '') : null
}

/** Files of a commit that are not in this checkout, also where a setting keeps git from using it. */
export async function deletedFrom({ git, repository }: Place, commit: string): Promise<readonly RawPath[]> {
  const { top, gitDir } = repository
  const command = ['diff-index', '-z', '--name-only', '--no-renames', '--diff-filter=D', '--ignore-submodules']
  const env = { GIT_DIR: gitDir, GIT_WORK_TREE: top }
  return splitRaw(await git.run([...command, commit, '--'], { env }))
}

/**
 * Whether HEAD came to where it is without a checkout, as by `git symbolic-ref`: then the files are still those of the branch before.
 * `since`: the length of its reflog then. False where HEAD has no reflog.
 */
export function wasPointed(gitDir: string, since: number, branch: string | null): boolean {
  const moves = movesSince(gitDir, since)
  if (moves === null || !fs.existsSync(path.join(gitDir, 'HEAD'))) return false
  return !moves.some(({ message }) => {
    const [, target] = /^(?:checkout: moving from \S+|Branch: renamed \S+|.*: returning) to (.+)$/.exec(message) ?? []
    return branch === null ? target !== undefined || /^(?:pull|rebase)\b/.test(message) : isSame(target, branch)
  })
}

function isSame(target: string | undefined, branch: string): boolean {
  return target === branch || target === `refs/heads/${branch}`
}
