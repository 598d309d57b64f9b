import type { FileChange } from '../../../../core/loop/work-evidence.ts'
import { type RawPath, rawPath } from '../../../../lib/text/raw-path.ts'
import { NO_INDEX } from '../../git.ts'
import type { RepositoryContext } from '../../repository-context.ts'
import { resolveObjects } from './resolve-commits.ts'

/** Two trees or commits. */
export type TreePair = readonly [from: string, to: string]

/** Returns the changes within each pair, read in one call if possible; null if git has lost one of its trees. */
export async function diffTreePairs(
  { git, cache }: RepositoryContext,
  pairs: readonly TreePair[],
): Promise<(readonly FileChange[] | null)[]> {
  const [only] = pairs
  if (only === undefined) return []
  if (pairs.length === 1) {
    // The snapshot before has often compared the same two trees.
    if (cache.lastTreeDiff?.trees === only.join(' '))
      return [cache.lastTreeDiff.files.map(({ path: file, before, after }) => ({ path: file, before, after }))]
    const result = await git.tryRun([...DIFF, ...only, '--'], { index: NO_INDEX })
    if (result.code === 0) return [parsePairs(rawPath(result.stdout)).get('') ?? []]
  } else if (pairs.flat().every(name => OBJECT_ID.test(name))) {
    const result = await git.tryRun(DIFF_STDIN, {
      index: NO_INDEX,
      input: pairs.map(pair => `${pair.join(' ')}\n`).join(''),
    })
    const found = parsePairs(rawPath(result.stdout))
    // git takes the second of two commits for a parent of the first, and prints another format.
    const isWhole = result.code === 0 && pairs.every(pair => found.has(pair.join(' ')))
    if (isWhole) return pairs.map(pair => found.get(pair.join(' ')) ?? [])
  }
  const names = pairs.flat().map(name => `${name}^{tree}`)
  const trees = await resolveObjects(git, names)
  const found = pairs.map((_, n) => [trees[2 * n] ?? null, trees[2 * n + 1] ?? null] as const)
  const input = found.flatMap(([from, to]) => (from === null || to === null ? [] : [`${from} ${to}\n`])).join('')
  if (input === '') return found.map(() => null)
  const answers = parsePairs(rawPath(await git.run(DIFF_STDIN, { index: NO_INDEX, input })))
  return found.map(([from, to]) => (from === null || to === null ? null : (answers.get(`${from} ${to}`) ?? [])))
}

const DIFF = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--abbrev=64']
const DIFF_STDIN = [...DIFF, '--stdin']

/** A full id: the use shows if git has the object. */
const OBJECT_ID = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/

const HEADER = /^([0-9a-f]{40,64} [0-9a-f]{40,64})\n/

/**
 * Parses a line `TREE TREE` for each pair from stdin (none for a pair from the arguments), then `:MODE MODE HASH HASH
 * LETTER` and the path for each file.
 */
function parsePairs(output: string): Map<string, FileChange[]> {
  let [changes, at] = [[] as FileChange[], 0]
  const answers = new Map<string, FileChange[]>([['', changes]])
  const words = output.split('\0')
  while (at < words.length) {
    let word = words[at++] as string
    for (let header = HEADER.exec(word); header !== null; header = HEADER.exec(word)) {
      answers.set(header[1] as string, (changes = []))
      word = word.slice(header[0].length)
    }
    if (!word.startsWith(':')) continue
    const [mode, other, before, after] = word.slice(1).split(' ')
    changes.push({
      path: words[at++] as RawPath,
      before: mode === '000000' ? null : `${mode} ${before}`,
      after: other === '000000' ? null : `${other} ${after}`,
    })
  }
  return answers
}

/** Returns the entry of each path in a tree, as `MODE HASH`. */
export async function readTree({ git }: RepositoryContext, tree: string): Promise<ReadonlyMap<RawPath, string>> {
  const lines = rawPath(await git.run(['ls-tree', '-r', '-z', '--full-tree', tree])).split('\0')
  return new Map(
    lines.slice(0, -1).map(line => {
      const [mode = '', , hash = ''] = line.split(/[ \t]/, 3)
      return [line.slice(line.indexOf('\t') + 1), `${mode} ${hash}`]
    }),
  )
}

/**
 * Returns those of the commits that are not in the history of `head`, oldest first. Skips merges and missing commits.
 */
export async function findUnreachable(
  { git }: RepositoryContext,
  commits: readonly string[],
  head: string,
): Promise<string[]> {
  const there = (await resolveObjects(git, commits)).filter(id => id !== null)
  if (there.length === 0) return []
  const output = await git.runForLine([
    'rev-list',
    '--no-merges',
    '--topo-order',
    '--reverse',
    ...there,
    '--not',
    head,
    '--',
  ])
  const dropped = new Set(output.split('\n'))
  return [...dropped].filter(id => there.includes(id))
}

/** The number of files to read; no refactoring moves more. */
const MAX_FILES = 400
const MOVED_SHARE = 0.5

/** Returns those of the first tree's files whose lines have mostly moved to other files of the second tree. */
export async function findMovedPaths(
  context: RepositoryContext,
  pair: TreePair,
  paths: readonly RawPath[],
): Promise<ReadonlySet<RawPath>> {
  const [from, to] = pair
  const changes = (await diffTreePairs(context, [[from, to]]))[0] ?? []
  const hashOf = (entry: string | null): string => entry?.split(' ')[1] ?? ''
  const gone = changes.filter(({ path, before }) => before !== null && paths.includes(path)).slice(0, MAX_FILES)
  const came = changes.filter(({ path, after }) => after !== null && !paths.includes(path)).slice(0, MAX_FILES)
  const lines = await readLines(context, [
    ...gone.map(({ before }) => hashOf(before)),
    ...came.map(({ after }) => hashOf(after)),
  ])
  const added = new Set(
    came.flatMap(({ before, after }) => {
      const had = new Set(before === null ? [] : (lines.get(hashOf(before)) ?? []))
      return (lines.get(hashOf(after)) ?? []).filter(line => !had.has(line))
    }),
  )
  const isMoved = ({ before }: FileChange): boolean => {
    const own = lines.get(hashOf(before)) ?? []
    const isSame = came.some(({ after }) => hashOf(after) === hashOf(before))
    return isSame || (own.length > 0 && own.filter(line => added.has(line)).length >= own.length * MOVED_SHARE)
  }
  return new Set(gone.filter(isMoved).map(({ path }) => path))
}

/** Returns the lines of each blob that are longer than two characters. */
async function readLines({ git }: RepositoryContext, hashes: readonly string[]): Promise<Map<string, string[]>> {
  const unique = [...new Set(hashes)]
  const output = rawPath(await git.run(['cat-file', '--batch'], { input: unique.map(hash => `${hash}\n`).join('') }))
  const lines = new Map<string, string[]>()
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf('\n', at)
    const [hash = '', kind, size] = output.slice(at, end).split(' ')
    if (kind !== 'blob') {
      at = end + 1 + (size === undefined ? 0 : Number(size) + 1)
      continue
    }
    const text = output.slice(end + 1, end + 1 + Number(size))
    lines.set(
      hash,
      text
        .split('\n')
        .map(line => line.trim())
        .filter(line => line.length > 2),
    )
    at = end + 2 + Number(size)
  }
  return lines
}

/** A path in which two trees differ. */
export interface TreeChange {
  readonly path: RawPath
  /** `MODE HASH` in the first tree; null if it is absent. */
  readonly before: string | null
  /** The hash in the second tree; null if it is absent. */
  readonly after: string | null
  /** True if the second tree has another repository there. */
  readonly isRepository: boolean
}

/** Parses `:MODE MODE HASH HASH LETTER`, then the path. */
export async function diffTree({ git }: RepositoryContext, from: string, to: string): Promise<TreeChange[]> {
  const command = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--abbrev=64', from, to]
  const words = rawPath(await git.run(command, { index: NO_INDEX })).split('\0')
  const entries: TreeChange[] = []
  for (let at = 0; at + 1 < words.length; at += 2) {
    const [mode = '', then, hash, other = ''] = (words[at] as string).slice(1).split(' ')
    const before = mode === '000000' ? null : `${mode} ${hash}`
    const after = then === '000000' ? null : other
    entries.push({ path: words[at + 1] as RawPath, before, after, isRepository: then === '160000' })
  }
  return entries
}
