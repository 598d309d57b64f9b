import type { FileChange } from '../../../core/loop/evidence.ts'
import { type RawPath, rawPath } from '../../../lib/raw-path.ts'
import { NO_INDEX } from '../git.ts'
import type { Place } from '../place.ts'
import { objectsAt } from './shop.ts'

/** From one tree or commit to another. */
export type Pair = readonly [from: string, to: string]

/** What is different between both of each pair, all asked for at once; null where git has lost one of them. */
export async function changesIn({ git }: Place, pairs: readonly Pair[]): Promise<(readonly FileChange[] | null)[]> {
  const [only] = pairs
  if (only === undefined) return []
  if (pairs.length === 1) {
    const answer = await git.ask([...DIFF, ...only, '--'], { index: NO_INDEX })
    if (answer.code === 0) return [readPairs(rawPath(answer.stdout)).get('') ?? []]
  } else if (pairs.flat().every(name => HASH.test(name))) {
    const answer = await git.ask(COMPARE, { index: NO_INDEX, input: pairs.map(pair => `${pair.join(' ')}\n`).join('') })
    const found = readPairs(rawPath(answer.stdout))
    // Of two commits git takes the second for a parent of the first, and answers otherwise.
    const isWhole = answer.code === 0 && pairs.every(pair => found.has(pair.join(' ')))
    if (isWhole) return pairs.map(pair => found.get(pair.join(' ')) ?? [])
  }
  const names = pairs.flat().map(name => `${name}^{tree}`)
  const trees = await objectsAt(git, names)
  const found = pairs.map((_, n) => [trees[2 * n] ?? null, trees[2 * n + 1] ?? null] as const)
  const input = found.flatMap(([from, to]) => (from === null || to === null ? [] : [`${from} ${to}\n`])).join('')
  if (input === '') return found.map(() => null)
  const answers = readPairs(rawPath(await git.run(COMPARE, { index: NO_INDEX, input })))
  return found.map(([from, to]) => (from === null || to === null ? null : (answers.get(`${from} ${to}`) ?? [])))
}

const DIFF = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--abbrev=64']
const COMPARE = [...DIFF, '--stdin']

/** A whole id: whether git has it shows when it is used. */
const HASH = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/

const HEADER = /^([0-9a-f]{40,64} [0-9a-f]{40,64})\n/

/** `TREE TREE` on a line for each pair that was read, none for the one that was named, then `:MODE MODE HASH HASH LETTER` and the path for each file. */
function readPairs(said: string): Map<string, FileChange[]> {
  let [changes, at] = [[] as FileChange[], 0]
  const answers = new Map<string, FileChange[]>([['', changes]])
  const words = said.split('\0')
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

/** What a tree has at each path, as `MODE HASH`. */
export async function filesIn({ git }: Place, tree: string): Promise<ReadonlyMap<RawPath, string>> {
  const lines = rawPath(await git.run(['ls-tree', '-r', '-z', '--full-tree', tree])).split('\0')
  return new Map(
    lines.slice(0, -1).map(line => {
      const [mode = '', , hash = ''] = line.split(/[ \t]/, 3)
      return [line.slice(line.indexOf('\t') + 1), `${mode} ${hash}`]
    }),
  )
}

/** Of these commits those that another one does not follow, oldest first. Merges, and those that git has lost, are not told. */
export async function droppedFrom({ git }: Place, commits: readonly string[], head: string): Promise<string[]> {
  const there = (await objectsAt(git, commits)).filter(id => id !== null)
  if (there.length === 0) return []
  const said = await git.line(['rev-list', '--no-merges', '--topo-order', '--reverse', ...there, '--not', head, '--'])
  const dropped = new Set(said.split('\n'))
  return [...dropped].filter(id => there.includes(id))
}

/** Bytes and files that are looked into; more is nobody's refactoring. */
const MOST_FILES = 400
const ENOUGH = 0.5

/** Of these files of the first tree those whose lines are, for the most part, in files that the second one has instead. */
export async function movedOf(place: Place, pair: Pair, paths: readonly RawPath[]): Promise<ReadonlySet<RawPath>> {
  const [from, to] = pair
  const changes = (await changesIn(place, [[from, to]]))[0] ?? []
  const hashOf = (entry: string | null): string => entry?.split(' ')[1] ?? ''
  const gone = changes.filter(({ path, before }) => before !== null && paths.includes(path)).slice(0, MOST_FILES)
  const came = changes.filter(({ path, after }) => after !== null && !paths.includes(path)).slice(0, MOST_FILES)
  const lines = await linesOf(place, [
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
    return isSame || (own.length > 0 && own.filter(line => added.has(line)).length >= own.length * ENOUGH)
  }
  return new Set(gone.filter(isMoved).map(({ path }) => path))
}

/** Lines that say something, of each of these blobs. */
async function linesOf({ git }: Place, hashes: readonly string[]): Promise<Map<string, string[]>> {
  const unique = [...new Set(hashes)]
  const said = rawPath(await git.run(['cat-file', '--batch'], { input: unique.map(hash => `${hash}\n`).join('') }))
  const lines = new Map<string, string[]>()
  for (let at = 0; at < said.length; ) {
    const end = said.indexOf('\n', at)
    const [hash = '', kind, size] = said.slice(at, end).split(' ')
    if (kind !== 'blob') {
      at = end + 1 + (size === undefined ? 0 : Number(size) + 1)
      continue
    }
    const text = said.slice(end + 1, end + 1 + Number(size))
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
