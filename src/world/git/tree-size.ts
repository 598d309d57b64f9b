import fs from 'node:fs'
import { formatBytes } from '../../lib/bytes.ts'
import { Trouble } from '../../lib/trouble.ts'
import { GitFailed } from './git-failed.ts'
import type { Place } from './place.ts'

/** A few trees that name each other many times stand for more files than there is room for, and take git years to list. */
const MOST_FILES = 1_000_000
const TOO_MANY = `it has more than ${MOST_FILES} files`
/** Bytes of git's list of all objects; a longer one is read no further. */
const LONGEST_LIST = 128_000_000
/** Bytes of all trees. */
const LARGEST_TREES = 128_000_000
/** Folders within folders; no file system has a path that is so long. */
const DEEPEST = 1_000

/** Each object once, however often it is named. A pipe hides how git ended, which a tree can make it do: its failure is a line. */
const LIST = `
{ git rev-list --objects --no-object-names --missing=allow-any "$1" || echo failed; } |
git cat-file --batch-check='%(objectname) %(objecttype) %(objectsize)' --buffer | head -c "$2"
`

/** What would be checked out. */
interface Extent {
  readonly files: number
  readonly bytes: number
}

/** Refuses a tree that would not fit: it may come from a remote, made to be too large. It is counted without being walked. */
export async function assertTreeFits(place: Place, tree: string): Promise<void> {
  const { repository, memory } = place
  if (memory.fittingTrees.has(tree)) return
  const { files, bytes } = await extentOf(place, tree)
  const { bavail, bsize } = fs.statfsSync(repository.top)
  if (files > MOST_FILES) refuse(TOO_MANY)
  if (bytes > bavail * bsize) refuse(`it needs ${formatBytes(bytes)}, and ${formatBytes(bavail * bsize)} are free`)
  memory.fittingTrees.add(tree)
}

async function extentOf(place: Place, tree: string): Promise<Extent> {
  const answer = await place.git.script(LIST, [tree, `${LONGEST_LIST}`])
  if (answer.code !== 0) throw new GitFailed('rev-list', answer)
  if (answer.stdout.length >= LONGEST_LIST) refuse('it has more objects than can be counted')
  const [trees, sizes] = [[] as string[], new Map<string, number>()]
  let room = LARGEST_TREES
  for (const line of answer.stdout.toString('latin1').split('\n')) {
    const [id = '', type, size] = line.split(' ')
    if (id === 'failed') refuse('git cannot list its objects')
    if (type === 'blob') sizes.set(id, Number(size))
    if (type !== 'tree') continue
    trees.push(id)
    room -= Number(size)
  }
  if (room < 0) refuse('its folders are larger than can be counted')
  return sum(tree, await readTrees(place, trees), sizes)
}

/** What each tree names, folders and files alike. */
async function readTrees({ git, repository }: Place, trees: readonly string[]): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>()
  if (trees.length === 0) return found
  const length = repository.nothing.commit.length / 2
  const said = await git.run(['cat-file', '--batch', '--buffer'], { input: trees.map(id => `${id}\n`).join('') })
  let room = MOST_FILES + trees.length
  for (let at = 0; at < said.length; ) {
    const begin = said.indexOf('\n', at) + 1
    const [id = '', , size] = said.subarray(at, begin).toString('latin1').trim().split(' ')
    const end = begin + Number(size)
    const entries = entriesIn(said.subarray(begin, end), length)
    // Each of them stands for one file or folder at least.
    room -= entries.length
    if (room < 0) refuse(TOO_MANY)
    found.set(id, entries)
    at = end + 1
  }
  return found
}

function entriesIn(raw: Buffer, length: number): string[] {
  const entries: string[] = []
  for (let at = 0; at < raw.length; ) {
    const id = raw.indexOf(0, at) + 1
    if (id === 0) break
    entries.push(raw.toString('hex', id, id + length))
    at = id + length
  }
  return entries
}

function sum(tree: string, trees: ReadonlyMap<string, readonly string[]>, sizes: ReadonlyMap<string, number>): Extent {
  const known = new Map<string, Extent>()
  const extentIn = (id: string, depth: number): Extent => {
    const entries = trees.get(id)
    if (entries === undefined) return { files: 1, bytes: sizes.get(id) ?? 0 }
    const before = known.get(id)
    if (before !== undefined) return before
    if (depth > DEEPEST) refuse(`its folders are more than ${DEEPEST} deep`)
    let [files, bytes] = [0, 0]
    for (const entry of entries) {
      const part = extentIn(entry, depth + 1)
      files += part.files
      bytes += part.bytes
    }
    known.set(id, { files, bytes })
    return { files, bytes }
  }
  return extentIn(tree, 0)
}

function refuse(why: string): never {
  throw new Trouble('reading a checkpoint', why, { mayHelpToRetry: false })
}
