import fs from 'node:fs'
import { formatBytes } from '../../../lib/bytes.ts'
import { Trouble } from '../../../lib/errors.ts'
import { GitError } from '../git-error.ts'
import type { RepositoryContext } from '../repository-context.ts'

/**
 * A few trees that name each other many times stand for more files than any disk can hold, and git needs years to list
 * them.
 */
const MAX_FILES = 1_000_000
const TOO_MANY = `it has more than ${MAX_FILES} files`
/** Bytes of git's list of all objects; the reader stops at this limit. */
const MAX_LIST_SIZE = 128_000_000
/** Bytes of all trees. */
const MAX_TREES_SIZE = 128_000_000
/** The depth of nested folders; no file system allows a path that long. */
const MAX_DEPTH = 1_000

/**
 * Lists each object once. A pipe hides git's exit code, and a crafted tree can make git fail: the script prints a
 * failure as a line.
 */
const LIST_SCRIPT = `
{ git rev-list --objects --no-object-names --missing=allow-any "$1" || echo failed; } |
git cat-file --batch-check='%(objectname) %(objecttype) %(objectsize)' --buffer | head -c "$2"
`

/** The size of a checkout. */
interface TreeSize {
  readonly files: number
  readonly bytes: number
}

/**
 * * Refuses a tree that does not fit on the disk: a stranger may have crafted it on a remote. Counts the files without
 * walking the tree.
 */
export async function assertTreeFits(context: RepositoryContext, tree: string): Promise<void> {
  const { repository, cache } = context
  if (cache.checkedTrees.has(tree)) return
  const { files, bytes } = await readTreeSize(context, tree)
  const { bavail, bsize } = fs.statfsSync(repository.top)
  if (files > MAX_FILES) failPermanently(TOO_MANY)
  if (bytes > bavail * bsize)
    failPermanently(`it needs ${formatBytes(bytes)}, and ${formatBytes(bavail * bsize)} are free`)
  cache.checkedTrees.add(tree)
}

async function readTreeSize(context: RepositoryContext, tree: string): Promise<TreeSize> {
  const result = await context.git.runScript(LIST_SCRIPT, [tree, `${MAX_LIST_SIZE}`])
  if (result.code !== 0) throw new GitError('rev-list', result)
  if (result.stdout.length >= MAX_LIST_SIZE) failPermanently('it has more objects than can be counted')
  const [trees, sizes] = [[] as string[], new Map<string, number>()]
  let room = MAX_TREES_SIZE
  for (const line of result.stdout.toString('latin1').split('\n')) {
    const [id = '', type, size] = line.split(' ')
    if (id === 'failed') failPermanently('git cannot list its objects')
    if (type === 'blob') sizes.set(id, Number(size))
    if (type !== 'tree') continue
    trees.push(id)
    room -= Number(size)
  }
  if (room < 0) failPermanently('its folders are larger than can be counted')
  return sumTree(tree, await readTrees(context, trees), sizes)
}

/** Returns the entries of each tree, folders and files. */
async function readTrees(
  { git, repository }: RepositoryContext,
  trees: readonly string[],
): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>()
  if (trees.length === 0) return found
  const length = repository.emptyIds.commit.length / 2
  const output = await git.run(['cat-file', '--batch', '--buffer'], { input: trees.map(id => `${id}\n`).join('') })
  let room = MAX_FILES + trees.length
  for (let at = 0; at < output.length; ) {
    const begin = output.indexOf('\n', at) + 1
    const [id = '', , size] = output.subarray(at, begin).toString('latin1').trim().split(' ')
    const end = begin + Number(size)
    const entries = parseTree(output.subarray(begin, end), length)
    // Each entry stands for at least one file or folder.
    room -= entries.length
    if (room < 0) failPermanently(TOO_MANY)
    found.set(id, entries)
    at = end + 1
  }
  return found
}

function parseTree(raw: Buffer, length: number): string[] {
  const entries: string[] = []
  for (let at = 0; at < raw.length; ) {
    const id = raw.indexOf(0, at) + 1
    if (id === 0) break
    entries.push(raw.toString('hex', id, id + length))
    at = id + length
  }
  return entries
}

function sumTree(
  tree: string,
  trees: ReadonlyMap<string, readonly string[]>,
  sizes: ReadonlyMap<string, number>,
): TreeSize {
  const known = new Map<string, TreeSize>()
  const sizeOf = (id: string, depth: number): TreeSize => {
    const entries = trees.get(id)
    if (entries === undefined) return { files: 1, bytes: sizes.get(id) ?? 0 }
    const before = known.get(id)
    if (before !== undefined) return before
    if (depth > MAX_DEPTH) failPermanently(`its folders are more than ${MAX_DEPTH} deep`)
    let [files, bytes] = [0, 0]
    for (const entry of entries) {
      const part = sizeOf(entry, depth + 1)
      files += part.files
      bytes += part.bytes
    }
    known.set(id, { files, bytes })
    return { files, bytes }
  }
  return sizeOf(tree, 0)
}

function failPermanently(why: string): never {
  throw new Trouble('reading a checkpoint', why, { mayHelpToRetry: false })
}
