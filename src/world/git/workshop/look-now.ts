import type { Occasion } from '../../../ports/checkpoints.ts'
import { GitFailed } from '../git-failed.ts'
import type { Place } from '../place.ts'
import { deltaOf } from '../save/delta.ts'
import { type Gathered, gather, treeBefore } from '../save/gather.ts'
import { indexTree } from '../save/index-tree.ts'
import { syncObjects } from '../save/objects.ts'
import { onlyHead } from '../save/only-head.ts'
import type { Wish } from '../save/wish.ts'
import { dropIndex, PrivateIndex } from '../save/private-index.ts'
import { locked } from './alone.ts'

/** What lies in a working tree, ignored files left aside. */
export interface Sight extends Gathered {
  readonly tree: string
}

/** Bytes; larger files are left out, as of checkpoints. */
const LARGEST = 50 * 1024 * 1024

const occasion: Occasion = { trigger: 'asked', attempt: 0, at: 0, record: '', isRecordNews: false, isVisible: false }

/** Takes it into a private index and makes a tree of that. Other repositories in it are noted down by their HEAD. */
export function lookNow(place: Place): Promise<Sight> {
  return locked(place.folder, place.git.signal, async () => {
    try {
      return await look(place)
    } catch (cause) {
      if (!(cause instanceof GitFailed)) throw cause
      // The private index tells of objects that are gone: it is made anew.
      dropIndex(place)
      return look(place)
    }
  })
}

async function look(place: Place): Promise<Sight> {
  const index = await PrivateIndex.open(place)
  try {
    const last = index.notes === null ? null : { tree: index.notes.tree, head: index.notes.head ?? null }
    const wish: Wish = { occasion, largest: place.largest ?? LARGEST, number: 0 }
    const gathered = await gather(place, index, { wish, before: last, save: onlyHead })
    const { seen, gitlinks } = gathered
    const tree = await indexTree(place, index, gathered)
    const before = treeBefore(place, last, seen)
    // What was seen last time was made durable then.
    const isSame = tree === last?.tree
    const delta = isSame ? null : (gathered.written?.delta ?? (await deltaOf(place, before, tree)))
    if (delta !== null) await syncObjects(place, delta.objects, gathered.isFlushed)
    index.keep({ tree, gitlinks, head: seen.head })
    return { ...gathered, tree }
  } catch (cause) {
    index.discard()
    throw cause
  }
}
