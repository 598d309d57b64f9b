import { joinRaw, type RawPath, shown, splitRaw } from '../../../lib/raw-path.ts'
import type { Git } from '../git.ts'
import { GitFailed } from '../git-failed.ts'
import { LATER } from './objects.ts'

/** As many files may be unusable, each for a reason of its own, before all of it is given up. */
const MOST_REFUSED = 40
/** Bytes of paths on one command line; Linux takes 128 KB for a single word and 2 MB in all. */
const COMMAND_LINE = 32_768
/** From so many files on, all are made durable by one flush at the end instead of by one for each. */
export const MANY = 500

/**
 * Takes files into the private index, and others out of it. One that git cannot take stays as it was, and is told of: a filter
 * that fails, a file that shrinks while it is read. One that vanishes meanwhile goes.
 */
export async function updateIndex(
  git: Git,
  index: string,
  wish: { readonly add: readonly RawPath[]; readonly remove: readonly RawPath[] },
): Promise<string[]> {
  let { add } = wish
  const remove = await removeFirst(git, index, wish.remove)
  const refused: string[] = []
  while (add.length + remove.length > 0) {
    const input = joinRaw(add)
    try {
      await git.run(command(remove, add.length), { index, input })
      break
    } catch (cause) {
      if (!(cause instanceof GitFailed) || refused.length === MOST_REFUSED) throw cause
      const { stdout } = await git.ask(['update-index', '--verbose', ...UPDATE, '--stdin'], { index, input })
      const bad = add[reached(stdout.toString('latin1'), add)]
      if (bad === undefined) throw cause
      const group = await sameFilter(git, bad, add)
      refused.push(sentence(bad, group.size, cause))
      add = add.filter(path => !group.has(path))
    }
  }
  return refused
}

const UPDATE = ['-z', '--add', '--remove', '--replace'] as const

/** git 2.39: a path behind a symbolic link can only be removed by force, and --stdin is one mode for all that it brings. */
function command(remove: readonly RawPath[], count: number): string[] {
  const flush = count > MANY ? ['-c', 'core.fsyncMethod=batch'] : LATER
  const gone = remove.length === 0 ? [] : ['--force-remove', ...remove.map(path => `./${path}`), '--no-force-remove']
  return [...flush, 'update-index', ...UPDATE, ...gone, '--stdin']
}

/** Removes what does not fit onto a command line, or is no text; answers what does. */
async function removeFirst(git: Git, index: string, remove: readonly RawPath[]): Promise<readonly RawPath[]> {
  const isPlain = remove.every(path => /^[\x01-\x7f]*$/.test(path))
  if (isPlain && remove.join('').length < COMMAND_LINE) return remove
  await git.run(['update-index', '-z', '--force-remove', '--stdin'], { index, input: joinRaw(remove) })
  return []
}

/** How many of them it has come past, as it tells itself. */
function reached(said: string, add: readonly RawPath[]): number {
  let at = 0
  for (const [count, path] of add.entries()) {
    const line = `add '${path}'\n`
    if (!said.startsWith(line, at)) return count
    at += line.length
  }
  return add.length
}

/** A filter that fails for one file fails for all. */
async function sameFilter(git: Git, bad: RawPath, add: readonly RawPath[]): Promise<ReadonlySet<RawPath>> {
  const words = splitRaw(await git.run(['check-attr', '-z', '--stdin', 'filter'], { input: joinRaw(add) }))
  const filters = new Map<RawPath, string>()
  for (let at = 0; at < words.length; at += 3) filters.set(words[at] as string, words[at + 2] as string)
  const filter = filters.get(bad)
  if (filter === undefined || ['unspecified', 'unset'].includes(filter)) return new Set([bad])
  return new Set(add.filter(path => filters.get(path) === filter))
}

function sentence(bad: RawPath, count: number, cause: GitFailed): string {
  const whom = count === 1 ? shown(bad) : `${shown(bad)} and ${count - 1} more`
  return `${whom} cannot be read by git: ${cause.message}`
}
