import fs from 'node:fs'
import type { Occasion } from '../../ports/checkpoints.ts'
import type { Change } from '../../core/checkpoint.ts'
import type { Place } from './place.ts'
import { removeFolder } from './remove-folder.ts'
import { deltaOf } from './save/delta.ts'
import { gather } from './save/gather.ts'
import { indexTree } from './save/index-tree.ts'
import { onlyHead } from './save/only-head.ts'
import { PrivateIndex } from './save/private-index.ts'
import { assertTreeFits } from './tree-size.ts'

/** What the working tree has that a tree has not, or HEAD when none is given. Nothing is kept of the look. */
export async function compare(
  place: Place,
  tree: string | null,
  largest: number,
): Promise<{ change: Change; head: string | null }> {
  if (tree !== null) await assertTreeFits(place, tree)
  const isStranger = !fs.existsSync(place.folder)
  const index = await PrivateIndex.open(place)
  try {
    const occasion: Occasion = {
      trigger: 'asked',
      attempt: 0,
      at: 0,
      record: '',
      isRecordNews: false,
      isVisible: false,
    }
    const gathered = await gather(place, index, {
      wish: { occasion, largest, number: 0 },
      before: null,
      save: onlyHead,
    })
    const { head } = gathered.seen
    const before = tree ?? (head === null ? place.repository.nothing.tree : `${head}^{tree}`)
    const { change } = await deltaOf(place, before, await indexTree(place, index, gathered))
    return { change, head }
  } finally {
    index.discard()
    if (isStranger) removeFolder(place.folder)
  }
}
