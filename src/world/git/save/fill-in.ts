import { joinRaw, type RawPath, splitRaw } from '../../../lib/raw-path.ts'
import { NO_INDEX } from '../git.ts'
import type { Place } from '../place.ts'
import type { Difference, Look } from './look.ts'
import type { PrivateIndex } from './private-index.ts'

/** What there was when the last checkpoint was made. */
export interface Before {
  readonly tree: string
  readonly head: string | null
}

/**
 * What cannot be taken from disk is what HEAD has there, once HEAD has something else there than before, and else what was saved
 * last. Brings the private index up to that; answers whether anything had to be done.
 */
export async function fillIn(
  place: Place,
  index: PrivateIndex,
  { paths, seen, before }: { paths: readonly RawPath[]; seen: Look; before: Before | null },
): Promise<boolean> {
  if (paths.length === 0 || before === null) return false
  const moved = await movedPaths(place, before.head, seen.head)
  // An index that was kept has what was saved last already.
  const saved = index.notes === null ? await entriesIn(place, before.tree) : null
  const nothing = `000000 ${place.repository.nothing.commit}`
  const known = new Map(seen.differences.filter(({ inHead }) => inHead !== null).map(one => [one.path, one]))
  const wanted = (path: RawPath, { inHead, inIndex }: Entries): string | null => {
    if (moved === null || moved.has(path)) return inHead
    return saved === null ? inIndex : (saved.get(path) ?? nothing)
  }
  const lines = paths.flatMap(path => {
    const entries = known.get(path) ?? { inHead: nothing, inIndex: nothing }
    const entry = wanted(path, entries)
    // What is entered anew is read by the next look, however large it is.
    return entry === entries.inIndex ? [] : [`${entry}\t${path}`]
  })
  if (lines.length === 0) return false
  await place.git.run(['update-index', '-z', '--index-info'], { index: index.file, input: joinRaw(lines) })
  return true
}

type Entries = Pick<Difference, 'inHead' | 'inIndex'>

/** Where two commits differ; null when the first one is gone. */
async function movedPaths(
  { git, repository }: Place,
  from: string | null,
  to: string | null,
): Promise<ReadonlySet<RawPath> | null> {
  if (from === to) return new Set()
  const { tree } = repository.nothing
  const words = ['diff-tree', '-r', '-z', '--no-renames', '--name-only', '--ignore-submodules=none']
  const answer = await git.ask([...words, from ?? tree, to ?? tree], { index: NO_INDEX })
  return answer.code === 0 ? new Set(splitRaw(answer.stdout)) : null
}

/** As `--index-info` takes them: `MODE HASH`. */
async function entriesIn({ git }: Place, tree: string): Promise<ReadonlyMap<RawPath, string>> {
  const entries = splitRaw(await git.run(['ls-tree', '-r', '-z', tree])).map((line): [RawPath, string] => {
    const [mode, , hash] = line.split(/[ \t]/, 3)
    return [line.slice(line.indexOf('\t') + 1), `${mode} ${hash}`]
  })
  return new Map(entries)
}
