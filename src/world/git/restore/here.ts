import { shown } from '../../../lib/raw-path.ts'
import { Trouble } from '../../../lib/trouble.ts'
import { headOf } from '../head.ts'
import type { Link } from '../link.ts'
import type { Nested } from '../message.ts'
import type { Place } from '../place.ts'
import { nestedState } from '../read.ts'
import { gather } from '../save/gather.ts'
import { dropIndex, PrivateIndex } from '../save/private-index.ts'
import { indexTree } from '../save/index-tree.ts'
import type { Outcome } from '../save/wish.ts'
import { unrestored } from './beside.ts'
import { findInTheWay } from './in-the-way.ts'

/** One working tree that is to go from one tree to another. */
interface Step {
  readonly place: Place
  readonly from: string
  readonly to: string
}

/**
 * Puts the target into the working tree, in the place of what is there, which is what `over` has saved. All repositories are
 * looked at before anything is done to one of them. Answers what could not be brought back.
 */
export async function restoreHere(place: Place, target: Link, over: Link, largest: number): Promise<string[]> {
  const doing = `restoring checkpoint ${target.telling.number}`
  const { steps, unable } = await planFor(place, target, over)
  const indexes: PrivateIndex[] = []
  try {
    for (const step of steps) indexes.push(await prepare(step, doing, largest))
    for (const [at, step] of steps.entries()) await perform(step, doing, indexes[at] as PrivateIndex)
  } finally {
    for (const index of indexes) index.discard()
    for (const { place } of steps) dropIndex(place)
  }
  return unable
}

async function planFor(place: Place, target: Link, over: Link): Promise<{ steps: Step[]; unable: string[] }> {
  const steps: Step[] = [{ place, from: over.tree, to: target.tree }]
  const unable: string[] = []
  for (const nested of target.telling.nested) {
    const now = over.telling.nested.find(({ path }) => path === nested.path)
    if (now?.state === nested.state) continue
    const [from, to] = [now === undefined ? null : await nestedState(place, now), await nestedState(place, nested)]
    if (from === null || to === null) unable.push(unrestored(nested))
    else if (from.tree !== to.tree) steps.push({ place: to.place, from: from.tree, to: to.tree })
  }
  const since = over.telling.nested.filter(({ path }) => !target.telling.nested.some(nested => nested.path === path))
  return { steps, unable: [...unable, ...since.map(stays)] }
}

/** A whole repository is not removed: it may be all there is of somebody's work. */
function stays({ path }: Nested): string {
  return `the repository ${shown(path)} was not there then, and stays`
}

/** Makes sure that the working tree is what was saved, and that nothing else would be lost. */
async function prepare({ place, from, to }: Step, doing: string, largest: number): Promise<PrivateIndex> {
  const index = await PrivateIndex.open(place)
  try {
    const occasion = {
      trigger: 'restore',
      attempt: 0,
      at: 0,
      record: '',
      isRecordNews: false,
      isVisible: false,
    } as const
    const wish = { occasion, largest, number: 0 }
    const gathered = await gather(place, index, { wish, last: { tree: from }, save: onlyHead })
    if ((await indexTree(place, index, gathered)) !== from) throw new Trouble(doing, 'files were changed meanwhile')
    const [first, ...more] = await findInTheWay(place, from, to)
    if (first === undefined) return index
    const others = more.length === 0 ? '' : ` and ${more.length} more`
    throw new Trouble(doing, `${shown(first)}${others} would be lost, which is ignored by git and not saved`, {
      mayHelpToRetry: false,
    })
  } catch (cause) {
    index.discard()
    throw cause
  }
}

/** Nested repositories are not saved now, only noted down as they are. */
async function onlyHead(place: Place): Promise<Outcome> {
  return { made: null, last: null, head: await headOf(place), nested: [] }
}

/** git looks at all files that it would touch before it touches one. */
async function perform({ place, from, to }: Step, doing: string, index: PrivateIndex): Promise<void> {
  try {
    const env = { GIT_NO_LAZY_FETCH: '0' }
    await place.git.run(['read-tree', '-m', '-u', from, to], { index: index.file, env })
  } catch (cause) {
    throw new Trouble(doing, cause)
  }
}
