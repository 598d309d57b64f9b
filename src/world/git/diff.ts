import { type Change, sumOf } from '../../core/checkpoint.ts'
import { shown } from '../../lib/raw-path.ts'
import { NO_INDEX } from './git.ts'
import type { Nested } from './message.ts'
import type { Place } from './place.ts'
import { linkAt, nestedState } from './read.ts'
import { deltaOf } from './save/delta.ts'
import { assertTreeFits } from './tree-size.ts'

/** A pair of states of one repository. */
interface Pair {
  readonly place: Place
  readonly from: string
  readonly to: string
}

/** As git shows it, that of nested repositories after that of the one that they lie in. */
export async function diff(
  place: Place,
  range: { from: string; to: string },
  options: { stat: boolean; colour: boolean },
): Promise<string> {
  const how = [options.stat ? '--stat' : '--patch', `--color=${options.colour ? 'always' : 'never'}`]
  const texts: string[] = []
  for (const { place: one, from, to } of await pairsOf(place, range)) {
    const prefix = one.path === '' ? '' : `${shown(one.path)}/`
    const where = [`--src-prefix=a/${prefix}`, `--dst-prefix=b/${prefix}`]
    const words = ['diff', '--no-ext-diff', '--no-textconv', '--submodule=short', ...how, ...where, from, to, '--']
    const text = (await one.git.run(words, { index: NO_INDEX })).toString()
    // A list of files does not show the prefix.
    texts.push(options.stat && prefix !== '' && text !== '' ? `in ${prefix}\n${text}` : text)
  }
  return texts.join('')
}

/** In numbers. */
export async function changeBetween(place: Place, range: { from: string; to: string }): Promise<Change> {
  const changes: Change[] = []
  for (const pair of await pairsOf(place, range)) {
    changes.push((await deltaOf(pair.place, pair.from, pair.to)).change)
  }
  return changes.reduce(sumOf)
}

async function pairsOf(place: Place, { from, to }: { from: string; to: string }): Promise<Pair[]> {
  const [before, after] = [await linkAt(place, from), await linkAt(place, to)]
  const pairs: Pair[] = [{ place, from: before.tree, to: after.tree }]
  const paths = new Set([...before.telling.nested, ...after.telling.nested].map(({ path }) => path))
  for (const path of paths) {
    const pair = await pairAt(place, find(before.telling.nested, path), find(after.telling.nested, path))
    if (pair !== null) pairs.push(pair)
  }
  for (const pair of pairs) {
    await assertTreeFits(pair.place, pair.from)
    await assertTreeFits(pair.place, pair.to)
  }
  return pairs
}

async function pairAt(place: Place, before: Nested | undefined, after: Nested | undefined): Promise<Pair | null> {
  if (before?.state === after?.state) return null
  const one = before === undefined ? null : await nestedState(place, before)
  const other = after === undefined ? null : await nestedState(place, after)
  const nested = (other ?? one)?.place
  if (nested === undefined) return null
  const { tree: nothing } = nested.repository.nothing
  return { place: nested, from: one?.tree ?? nothing, to: other?.tree ?? nothing }
}

function find(all: readonly Nested[], path: string): Nested | undefined {
  return all.find(one => one.path === path)
}
