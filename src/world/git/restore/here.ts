import type { Occasion } from '../../../ports/checkpoints.ts'
import { formatBytes } from '../../../lib/bytes.ts'
import { below, shown } from '../../../lib/raw-path.ts'
import { Trouble } from '../../../lib/trouble.ts'
import { lstat } from '../lstat.ts'
import type { Link } from '../link.ts'
import type { Nested } from '../message.ts'
import type { Place } from '../place.ts'
import { nestedState } from '../read.ts'
import type { Before } from '../save/fill-in.ts'
import { gather } from '../save/gather.ts'
import { briefly } from '../save/briefly.ts'
import { dropIndex, PrivateIndex } from '../save/private-index.ts'
import { indexTree } from '../save/index-tree.ts'
import { onlyHead } from '../save/only-head.ts'
import type { Wish } from '../save/wish.ts'
import { assertTreeFits } from '../tree-size.ts'
import { unrestored } from './beside.ts'
import { findInTheWay } from './in-the-way.ts'

/** One working tree that is to go from one tree to another. */
interface Step {
  readonly place: Place
  readonly from: Before
  readonly to: string
}

/** One that can be taken. */
interface Ready {
  readonly step: Step
  readonly index: PrivateIndex
  /** What is not saved, and not touched. */
  readonly leftOut: readonly string[]
}

/**
 * Puts the target into the working tree, in the place of what is there, which is what `over` has saved. All repositories are
 * looked at before anything is done to one of them. Answers what could not be brought back.
 */
export async function restoreHere(place: Place, target: Link, over: Link, largest: number): Promise<string[]> {
  const doing = `restoring checkpoint ${target.telling.number}`
  const { steps, unable } = await planFor(place, target, over)
  for (const step of steps) await assertTreeFits(step.place, step.to)
  const ready: Ready[] = []
  try {
    for (const step of steps) ready.push(await prepare(step, doing, largest))
    for (const { step, index } of ready) await perform(step, doing, index)
  } finally {
    for (const { index } of ready) index.discard()
    for (const { place } of steps) dropIndex(place)
  }
  const untouched = ready.flatMap(({ leftOut }) => leftOut.map(sentence => `${sentence}, and stays as it is`))
  return [...unable, ...briefly(untouched)]
}

async function planFor(place: Place, target: Link, over: Link): Promise<{ steps: Step[]; unable: string[] }> {
  const steps: Step[] = [{ place, from: { tree: over.tree, head: over.telling.head }, to: target.tree }]
  const unable: string[] = []
  for (const nested of target.telling.nested) {
    const now = over.telling.nested.find(({ path }) => path === nested.path)
    if (now?.state === nested.state) continue
    const [from, to] = [now === undefined ? null : await nestedState(place, now), await nestedState(place, nested)]
    if (from === null || to === null) unable.push(unrestored(nested))
    else if (from.tree !== to.tree) steps.push({ place: to.place, from, to: to.tree })
  }
  const since = over.telling.nested.filter(({ path }) => !target.telling.nested.some(nested => nested.path === path))
  return { steps, unable: [...unable, ...since.map(stays)] }
}

/** A whole repository is not removed: it may be all there is of somebody's work. */
function stays({ path }: Nested): string {
  return `the repository ${shown(path)} did not exist then, and stays`
}

/** Makes sure that the working tree is what was saved, and that nothing else would be lost. */
async function prepare(step: Step, doing: string, largest: number): Promise<Ready> {
  const { place, from, to } = step
  const index = await PrivateIndex.open(place)
  try {
    const occasion: Occasion = {
      trigger: 'restore',
      attempt: 0,
      at: 0,
      record: '',
      isRecordNews: false,
      isVisible: false,
    }
    const wish: Wish = { occasion, largest, number: 0 }
    const gathered = await gather(place, index, { wish, before: from, save: onlyHead })
    if ((await indexTree(place, index, gathered)) !== from.tree)
      throw new Trouble(doing, 'files were changed meanwhile')
    const [first, ...more] = await findInTheWay(place, { from: from.tree, to }, path =>
      gathered.leftOut.some(sentence => sentence.startsWith(`${shown(path)} `)),
    )
    if (first === undefined) return { step, index, leftOut: gathered.leftOut }
    const others = more.length === 0 ? '' : ` and ${more.length} more`
    const why = whyUnsaved(below(place.repository.top, first), largest)
    throw new Trouble(doing, `${shown(first)}${others} would be lost, which ${why} and not saved`, {
      mayHelpToRetry: false,
    })
  } catch (cause) {
    index.discard()
    throw cause
  }
}

function whyUnsaved(file: Buffer, largest: number): string {
  const stat = lstat(file)
  if (stat?.isDirectory()) return 'is a repository'
  const size = stat?.size ?? 0
  return size > largest ? `is ${formatBytes(size)} large` : 'is ignored by git'
}

/** git looks at all files that it would touch before it touches one. */
async function perform({ place, from, to }: Step, doing: string, index: PrivateIndex): Promise<void> {
  try {
    const env = { GIT_NO_LAZY_FETCH: '0' }
    await place.git.run(['read-tree', '-m', '-u', from.tree, to], { index: index.file, env, umask: place.umask })
  } catch (cause) {
    throw new Trouble(doing, cause)
  }
}
