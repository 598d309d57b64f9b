import fs from 'node:fs'
import { joinRawPaths, type RawPath, displayPath, splitRawPaths } from '../../../../lib/text/raw-path.ts'
import { type Git, NO_INDEX } from '../../git.ts'
import { GitError } from '../../git-error.ts'
import { type TreeDiff, DIFF_TREES, parseTreeDiff } from './tree-diff.ts'
import { NO_FSYNC } from '../../fsync-objects.ts'

/** The number of files that git may reject, each for its own reason, before we search for further ones by halves. */
const MAX_REJECTED = 40
/** The number of tries by halves; each starts a process. */
const MAX_TRIES = 300
/** Failures that are not about one file. */
const OTHER_FAILURE = /no space left|quota exceeded|cannot allocate|out of memory|read-only file system|index\.lock/i
/** Bytes of paths on one command line; Linux accepts 128 KB for one argument and 2 MB in all. */
const MAX_COMMAND_LENGTH = 32_768
/** From this number of files on, git syncs once at the end instead of once per file. */
const BATCH_SYNC_THRESHOLD = 500

/** The paths to add to and to remove from the private index. */
export interface IndexUpdate {
  readonly add: readonly RawPath[]
  readonly remove: readonly RawPath[]
}

/** Sentences about files that git could not add, and the sync state. */
export interface IndexUpdateResult {
  readonly rejected: readonly string[]
  /** The paths of those sentences. */
  readonly skippedPaths: readonly RawPath[]
  readonly isSynced: boolean
}

/**
 * * Updates the index. A file that git cannot read keeps its entry, and the result names it: its filter fails, or it
 * shrinks during the read. If a file vanishes meanwhile, git removes its entry.
 */
export async function updateIndex(git: Git, index: string, update: IndexUpdate): Promise<IndexUpdateResult> {
  let { add } = update
  const remove = await removeSeparately(git, index, update.remove)
  const refused: string[] = []
  const skipped: RawPath[] = []
  while (add.length + remove.length > 0) {
    const input = joinRawPaths(add)
    try {
      await git.run(updateCommand(remove, add.length), { index, input })
      break
    } catch (cause) {
      if (!(cause instanceof GitError)) throw cause
      if (refused.length === MAX_REJECTED) {
        const rest = await addByHalves(git, index, { add, remove })
        return {
          rejected: [...refused, ...rest.rejected],
          skippedPaths: [...skipped, ...rest.skippedPaths],
          isSynced: false,
        }
      }
      const { stdout } = await git.tryRun(['update-index', '--verbose', ...UPDATE_OPTIONS, '--stdin'], { index, input })
      const bad = add[countAdded(stdout.toString('latin1'), add)]
      if (bad === undefined) throw cause
      const group = await filesWithSameFilter(git, bad, add)
      refused.push(describeRejection(bad, group.size, cause))
      skipped.push(...group)
      add = add.filter(path => !group.has(path))
    }
  }
  return { rejected: refused, skippedPaths: skipped, isSynced: add.length > BATCH_SYNC_THRESHOLD }
}

/**
 * Adds all files that git accepts. It tries files with the same filter and encoding together, because they often fail
 * together. After many tries, a part that still fails is rejected as a whole.
 */
async function addByHalves(git: Git, index: string, { add, remove }: IndexUpdate): Promise<IndexUpdateResult> {
  if (remove.length > 0) await git.run(updateCommand(remove, 0), { index, input: '' })
  const rejected: RawPath[] = []
  let last: GitError | null = null
  const parts = await splitByAttributes(git, add)
  for (let tries = 0; ; tries++) {
    const part = parts.shift()
    if (part === undefined) break
    const cause = await tryToAdd(git, index, part)
    last = cause ?? last
    const half = Math.ceil(part.length / 2)
    if (cause === null) continue
    if (part.length === 1 || tries >= MAX_TRIES) rejected.push(...part)
    else parts.push(part.slice(0, half), part.slice(half))
  }
  const [first] = rejected
  const sentences = first === undefined || last === null ? [] : [describeRejection(first, rejected.length, last)]
  return { rejected: sentences, skippedPaths: rejected, isSynced: false }
}

async function tryToAdd(git: Git, index: string, part: readonly RawPath[]): Promise<GitError | null> {
  try {
    await git.run(updateCommand([], part.length), { index, input: joinRawPaths(part) })
    return null
  } catch (cause) {
    if (!(cause instanceof GitError) || OTHER_FAILURE.test(cause.stderr)) throw cause
    return cause
  }
}

/** Returns the files in groups that git converts in the same way. */
async function splitByAttributes(git: Git, add: readonly RawPath[]): Promise<RawPath[][]> {
  const args = ['check-attr', '-z', '--stdin', 'filter', 'working-tree-encoding']
  const words = splitRawPaths(await git.run(args, { input: joinRawPaths(add) }))
  const attributes = new Map<RawPath, string>()
  for (let at = 0; at + 2 < words.length; at += 3) {
    const [path = '', name, value] = words.slice(at, at + 3)
    attributes.set(path, `${attributes.get(path) ?? ''}${name}=${value} `)
  }
  const groups = new Map<string, RawPath[]>()
  for (const path of add) {
    const key = attributes.get(path) ?? ''
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [path])
    else group.push(path)
  }
  return [...groups.values()]
}

const UPDATE_OPTIONS = ['-z', '--add', '--remove', '--replace'] as const

/** An update that is to happen only if git ignores none of these files. */
interface ConditionalUpdate extends IndexUpdate {
  readonly newcomers: readonly RawPath[]
}

/**
 * Updates the index, writes the tree and compares it with another one, in one script. Returns null if there is nothing
 * to do, if there are many files, if git ignores a newcomer, or after an error; the caller then uses `updateIndex`.
 */
export async function updateAndDiff(
  git: Git,
  index: string,
  update: ConditionalUpdate,
  from: string,
): Promise<WrittenTree | null> {
  const { add, remove, newcomers } = update
  const isMuch = add.length > BATCH_SYNC_THRESHOLD || !fitsCommandLine(remove)
  if (isMuch || add.length + remove.length === 0) return null
  // The next chain removes a leftover file by its name.
  const query = newcomers.length === 0 ? '' : `${index}.newcomers`
  if (query !== '') fs.writeFileSync(query, joinIgnoreQuery(newcomers), { mode: 0o600, flag: 'wx' })
  const result = await git
    .runScript(UPDATE_SCRIPT, [from, query, ...updateCommand(remove, add.length)], { index, input: joinRawPaths(add) })
    .finally(() => query === '' || fs.rmSync(query, { force: true }))
  if (result.code !== 0) return null
  const end = result.stdout.indexOf('\n')
  const tree = result.stdout.subarray(0, end).toString()
  return { tree, diff: parseTreeDiff(tree, result.stdout.subarray(end + 1)) }
}

export interface WrittenTree {
  readonly tree: string
  readonly diff: TreeDiff
}

/** git 2.39: check-ignore rejects literal pathspecs. It ends with 1 if it ignores no path. */
const UPDATE_SCRIPT = `
from=$1 newcomers=$2
shift 2
if [ -n "$newcomers" ]; then
  GIT_LITERAL_PATHSPECS=0
  git check-ignore --no-index -z --stdin <"$newcomers" >/dev/null
  [ $? = 1 ] || exit 3
  GIT_LITERAL_PATHSPECS=1
fi
git "$@" || exit
tree=$(git ${NO_FSYNC.join(' ')} write-tree) || exit
echo "$tree"
GIT_INDEX_FILE=${NO_INDEX}
git ${DIFF_TREES.join(' ')} "$from" "$tree"
`

/** Returns the input of check-ignore, which treats a path with a leading colon as a pattern. */
export function joinIgnoreQuery(paths: readonly RawPath[]): Buffer {
  return joinRawPaths(paths.map(path => `./${path}`))
}

/** git 2.39: only --force-remove removes a path behind a symbolic link, and --stdin uses one mode for all its paths. */
function updateCommand(remove: readonly RawPath[], count: number): string[] {
  const flush = count > BATCH_SYNC_THRESHOLD ? ['-c', 'core.fsyncMethod=batch'] : NO_FSYNC
  const gone = remove.length === 0 ? [] : ['--force-remove', ...remove.map(path => `./${path}`), '--no-force-remove']
  return [...flush, 'update-index', ...UPDATE_OPTIONS, ...gone, '--stdin']
}

/** Removes paths that do not fit on a command line or are not ASCII; returns the paths that fit. */
async function removeSeparately(git: Git, index: string, remove: readonly RawPath[]): Promise<readonly RawPath[]> {
  if (fitsCommandLine(remove)) return remove
  await git.run(['update-index', '-z', '--force-remove', '--stdin'], { index, input: joinRawPaths(remove) })
  return []
}

function fitsCommandLine(paths: readonly RawPath[]): boolean {
  return paths.every(path => /^[\x01-\x7f]*$/.test(path)) && paths.join('').length < MAX_COMMAND_LENGTH
}

/** Returns the number of files that git reports as added. */
function countAdded(output: string, add: readonly RawPath[]): number {
  let at = 0
  for (const [count, path] of add.entries()) {
    const line = `add '${path}'\n`
    if (!output.startsWith(line, at)) return count
    at += line.length
  }
  return add.length
}

/** A filter that fails for one file fails for all files. */
async function filesWithSameFilter(git: Git, bad: RawPath, add: readonly RawPath[]): Promise<ReadonlySet<RawPath>> {
  const words = splitRawPaths(await git.run(['check-attr', '-z', '--stdin', 'filter'], { input: joinRawPaths(add) }))
  const filters = new Map<RawPath, string>()
  for (let at = 0; at < words.length; at += 3) filters.set(words[at] as string, words[at + 2] as string)
  const filter = filters.get(bad)
  if (filter === undefined || ['unspecified', 'unset'].includes(filter)) return new Set([bad])
  return new Set(add.filter(path => filters.get(path) === filter))
}

function describeRejection(bad: RawPath, count: number, cause: GitError): string {
  const files = count === 1 ? displayPath(bad) : `${displayPath(bad)} and ${count - 1} more`
  return `${files} cannot be read by git: ${cause.message}`
}
