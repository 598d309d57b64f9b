import { joinRaw, type RawPath, shown, splitRaw } from '../../../lib/raw-path.ts'
import { type Git, NO_INDEX } from '../git.ts'
import { GitFailed } from '../git-failed.ts'
import { type Delta, DIFF_TREES, readDelta } from './delta.ts'
import { LATER } from './objects.ts'

/** As many files may be unusable, each for a reason of its own, before all of it is given up. */
const MOST_REFUSED = 40
/** Bytes of paths on one command line; Linux takes 128 KB for a single word and 2 MB in all. */
const COMMAND_LINE = 32_768
/** From so many files on, all are made durable by one flush at the end instead of by one for each. */
const MANY = 500

/** What is to be taken into the private index, and what out of it. */
export interface Update {
  readonly add: readonly RawPath[]
  readonly remove: readonly RawPath[]
}

/** What git could not take, as sentences, and whether it has flushed what it took. */
export interface Taken {
  readonly refused: readonly string[]
  /** Those that this tells of. */
  readonly untaken: readonly RawPath[]
  readonly isFlushed: boolean
}

/**
 * Does it. One that git cannot take stays as it was, and is told of: a filter that fails, a file that shrinks while it is read.
 * One that vanishes meanwhile goes.
 */
export async function updateIndex(git: Git, index: string, update: Update): Promise<Taken> {
  let { add } = update
  const remove = await removeFirst(git, index, update.remove)
  const refused: string[] = []
  const untaken: RawPath[] = []
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
      untaken.push(...group)
      add = add.filter(path => !group.has(path))
    }
  }
  return { refused, untaken, isFlushed: add.length > MANY }
}

const UPDATE = ['-z', '--add', '--remove', '--replace'] as const

/**
 * Does it together with what follows, writing the tree and comparing it with another one. Null when that needs more care: there
 * is nothing to do, or much, or something went wrong.
 */
export async function updateAndCompare(git: Git, index: string, update: Update, from: string): Promise<Written | null> {
  const { add, remove } = update
  const isMuch = add.length > MANY || !isPlain(remove)
  if (isMuch || add.length + remove.length === 0) return null
  const answer = await git.script(SCRIPT, [from, ...command(remove, add.length)], { index, input: joinRaw(add) })
  if (answer.code !== 0) return null
  const end = answer.stdout.indexOf('\n')
  const tree = answer.stdout.subarray(0, end).toString()
  return { tree, delta: readDelta(tree, answer.stdout.subarray(end + 1)) }
}

export interface Written {
  readonly tree: string
  readonly delta: Delta
}

const SCRIPT = `
from=$1
shift
git "$@" || exit
tree=$(git ${LATER.join(' ')} write-tree) || exit
echo "$tree"
GIT_INDEX_FILE=${NO_INDEX}
git ${DIFF_TREES.join(' ')} "$from" "$tree"
`

/** git 2.39: a path behind a symbolic link can only be removed by force, and --stdin is one mode for all that it brings. */
function command(remove: readonly RawPath[], count: number): string[] {
  const flush = count > MANY ? ['-c', 'core.fsyncMethod=batch'] : LATER
  const gone = remove.length === 0 ? [] : ['--force-remove', ...remove.map(path => `./${path}`), '--no-force-remove']
  return [...flush, 'update-index', ...UPDATE, ...gone, '--stdin']
}

/** Removes what does not fit onto a command line, or is no text; answers what does. */
async function removeFirst(git: Git, index: string, remove: readonly RawPath[]): Promise<readonly RawPath[]> {
  if (isPlain(remove)) return remove
  await git.run(['update-index', '-z', '--force-remove', '--stdin'], { index, input: joinRaw(remove) })
  return []
}

function isPlain(paths: readonly RawPath[]): boolean {
  return paths.every(path => /^[\x01-\x7f]*$/.test(path)) && paths.join('').length < COMMAND_LINE
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
