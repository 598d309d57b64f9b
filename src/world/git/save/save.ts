import { sumOf } from '../../../core/checkpoint.ts'
import { Mask } from '../../../lib/mask/mask.ts'
import { tipOf } from '../chain.ts'
import { GitFailed } from '../git-failed.ts'
import type { Link } from '../link.ts'
import type { Telling } from '../message.ts'
import type { Place } from '../place.ts'
import { readRecordOf } from '../read.ts'
import { briefly } from './briefly.ts'
import { commitLink } from './commit-link.ts'
import { type Delta, deltaOf } from './delta.ts'
import type { Before } from './fill-in.ts'
import { type Gathered, gather, treeBefore } from './gather.ts'
import { indexTree } from './index-tree.ts'
import { syncObjects } from './objects.ts'
import { dropIndex, PrivateIndex } from './private-index.ts'
import { bustleIn, retreatToSound, retreatWhenBroken } from './soundness.ts'
import { healIndex } from './user-index.ts'
import { commitVisibly } from './visible.ts'
import type { Outcome, Wish } from './wish.ts'

/**
 * Saves the working tree of one place, and first of those that are nested in it. When git finds that the private index does not
 * fit, because objects or the whole repository were replaced, it is made anew. Only when that does not help either, what was
 * saved before is suspected.
 */
export async function save(place: Place, wish: Wish): Promise<Outcome> {
  try {
    return await trySave(place, wish)
  } catch (cause) {
    if (!(cause instanceof GitFailed)) throw cause
    dropIndex(place)
    return trySave(place, wish).catch(async (again: unknown) => {
      if (!(again instanceof GitFailed)) throw again
      await retreatToSound(place)
      return trySave(place, wish)
    })
  }
}

async function trySave(place: Place, wish: Wish): Promise<Outcome> {
  if (await retreatWhenBroken(place)) dropIndex(place)
  if (place.path === '') await healIndex(place)
  const bustle = bustleIn(place)
  const last = await tipOf(place)
  const number = Math.max(wish.number, (last?.telling.number ?? 0) + 1)
  const index = await PrivateIndex.open(place)
  try {
    const gathered = await gather(place, index, { wish: { ...wish, number }, before: beforeOf(last), save })
    const made = await makeLink(place, index, { last, gathered, wish: { ...wish, number }, bustle })
    return { made, last, head: made?.telling.head ?? gathered.seen.head, nested: gathered.nested }
  } catch (cause) {
    index.discard()
    throw cause
  }
}

function beforeOf(last: Link | null): Before | null {
  return last === null ? null : { tree: last.tree, head: last.telling.head }
}

interface Findings {
  readonly last: Link | null
  readonly gathered: Gathered
  readonly wish: Wish
  readonly bustle: string
}

async function makeLink(place: Place, index: PrivateIndex, findings: Findings): Promise<Link | null> {
  const { last, gathered, wish, bustle } = findings
  const { seen, gitlinks } = gathered
  const tree = await indexTree(place, index, gathered)
  const notes = { tree, gitlinks }
  if (isNothingNew(place, tree, findings) && !(await isRecordNews(place, findings))) {
    index.keep(notes)
    return null
  }
  const delta = gathered.written?.delta ?? (await deltaOf(place, treeBefore(place, beforeOf(last), seen), tree))
  await syncObjects(place, delta.objects, gathered.isFlushed)
  const isVisible = wish.occasion.isVisible && place.path === ''
  const visible = isVisible ? await commitVisibly(place, tree, gathered, wish) : null
  const telling = tell(place, findings, { head: visible?.head ?? seen.head, delta, note: visible?.note })
  const record = place.path === '' ? wish.occasion.record : ''
  const link = await commitLink(place, { tree, telling, record, last, objects: delta.objects, bustle })
  index.keep(notes)
  return link
}

function isNothingNew(place: Place, tree: string, { last, gathered }: Findings): boolean {
  const { seen, nested } = gathered
  // A nested repository that nobody has touched has nothing to save: its HEAD is noted down.
  if (last === null) return place.path !== '' && seen.differences.length === 0 && nested.every(isUntouched)
  const isSameInside = JSON.stringify(nested) === JSON.stringify(last.telling.nested)
  return tree === last.tree && seen.head === last.telling.head && isSameInside
}

/** What is known of the session is written down with the outermost repository alone. */
async function isRecordNews(place: Place, { last, wish }: Findings): Promise<boolean> {
  const { isRecordNews: isWanted, record } = wish.occasion
  if (!isWanted || last === null || place.path !== '') return false
  return (await readRecordOf(place, last.commit)) !== record
}

const isUntouched = ({ state }: { state: number | string }): boolean => typeof state === 'string'

function tell(
  place: Place,
  { gathered, wish }: Findings,
  { head, delta, note }: { head: string | null; delta: Delta; note?: string | undefined },
): Telling {
  const { trigger, attempt, at } = wish.occasion
  // The name of a file may be a secret, too.
  const mask = new Mask(place.withheld)
  const leftOut = briefly([...(note === undefined ? [] : [note]), ...gathered.leftOut]).map(text => mask.hide(text))
  const change = sumOf(delta.change, gathered.changeInside)
  const { nested } = gathered
  const { sessionId, path } = place
  return { number: wish.number, sessionId, path, at, trigger, attempt, head, change, leftOut, nested }
}
