import { type Change, NO_CHANGE, sumOf } from '../../../core/checkpoint.ts'
import { below, type RawPath } from '../../../lib/raw-path.ts'
import type { Nested } from '../message.ts'
import type { Place } from '../place.ts'
import { isAbandoned } from './abandoned.ts'
import { type Before, fillIn } from './fill-in.ts'
import { findIgnored } from './ignored.ts'
import { type Look, look } from './look.ts'
import { saveNested } from './nested.ts'
import type { PrivateIndex } from './private-index.ts'
import { findWithheld } from './secret-file.ts'
import { sift } from './sift.ts'
import { updateAndCompare, updateIndex, type Written } from './update-index.ts'
import type { Save, Wish } from './wish.ts'

/** What was found in a working tree, and is in the private index by now. */
export interface Gathered {
  readonly seen: Look
  /** Its tree and what is different in it, where both were found on the way. */
  readonly written: Written | null
  /** Whether the index was changed for it. */
  readonly isChanged: boolean
  /** Whether there was so much that git has flushed it all at once. */
  readonly isFlushed: boolean
  readonly leftOut: readonly string[]
  /** What of that git could not take. */
  readonly refused: readonly string[]
  /** What of this working tree is not in the index as it lies there, as far as it could be looked at. */
  readonly untaken: readonly RawPath[]
  /** What was in the repositories that lie in it, and what was changed there. */
  readonly nested: readonly Nested[]
  readonly changeInside: Change
  readonly gitlinks: readonly RawPath[]
}

/** The mode of an entry that is another repository. */
const GITLINK = '160000'
const NOTHING_REFUSED = { refused: [], untaken: [], isFlushed: false } as const

/** Brings the private index up to what lies in the working tree, and lets what is nested in it be saved. */
export async function gather(
  place: Place,
  index: PrivateIndex,
  { wish, before, save }: { wish: Wish; before: Before | null; save: Save },
): Promise<Gathered> {
  const { git, repository } = place
  const { top } = repository
  const abandoned = index.gitlinks.filter(path => isAbandoned(below(top, path)))
  if (abandoned.length > 0) await updateIndex(git, index.file, { add: [], remove: abandoned })
  const seen = await look(git, index.file)
  const inner = candidates(index, seen, abandoned)
  const submodules = submodulesIn(index, seen)
  const inside = await saveNested(place, { paths: inner, submodules }, nested => save(nested, wish))
  const repositories = new Set(inside.flatMap(({ path, head }) => (head === null ? [] : [path])))
  const { largest } = wish
  const { withheld: values } = place
  const withheld = values === undefined ? new Map() : await findWithheld(place, seen.differences, { values, largest })
  const sifted = sift(seen.differences, { top, largest, repositories, withheld })
  const ignored = new Set(await findIgnored(place, seen))
  const add = sifted.add.filter(path => !ignored.has(path))
  const remove = [...sifted.remove, ...ignored]
  const update = { add, remove }
  const isFilled = await fillIn(place, index, { paths: sifted.stay, seen, before })
  const written = await updateAndCompare(git, index.file, update, treeBefore(place, before, seen))
  const taken = written === null ? await updateIndex(git, index.file, update) : NOTHING_REFUSED
  const gone = new Set([...abandoned, ...remove])
  const linked = [...index.gitlinks, ...[...add, ...sifted.stay].filter(path => inner.includes(path))]
  return {
    seen,
    written,
    isChanged: isFilled || abandoned.length + add.length + remove.length > 0,
    isFlushed: taken.isFlushed,
    refused: taken.refused,
    untaken: [...sifted.untaken, ...taken.untaken],
    leftOut: [...sifted.leftOut, ...taken.refused, ...seen.warnings, ...inside.flatMap(work => work.leftOut)],
    nested: inside.flatMap(({ states }) => states),
    changeInside: inside.map(({ change }) => change).reduce(sumOf, NO_CHANGE),
    gitlinks: [...new Set(linked)].filter(path => !gone.has(path)),
  }
}

/** What there was before: the last checkpoint or, for the first one, HEAD. */
export function treeBefore({ repository }: Place, before: Before | null, { head }: Look): string {
  return before?.tree ?? (head === null ? repository.nothing.tree : `${head}^{tree}`)
}

/** Where other repositories may lie. */
function candidates(index: PrivateIndex, seen: Look, abandoned: readonly RawPath[]): RawPath[] {
  const found = seen.differences.filter(({ isRepository }) => isRepository).map(({ path }) => path)
  return [...new Set([...index.gitlinks, ...found])].filter(path => !abandoned.includes(path)).sort()
}

/** Our index has an entry for each repository that was found; one that HEAD has as well is a submodule. */
function submodulesIn(index: PrivateIndex, seen: Look): RawPath[] {
  const isNew = new Set(
    seen.differences.flatMap(({ path, inHead }) => (inHead?.startsWith(`${GITLINK} `) === false ? [path] : [])),
  )
  return index.gitlinks.filter(path => !isNew.has(path))
}
