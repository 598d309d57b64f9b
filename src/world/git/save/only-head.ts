import { headOf } from '../head.ts'
import type { Place } from '../place.ts'
import type { Outcome } from './wish.ts'

/** Nested repositories are not saved now, only noted down as they are. */
export async function onlyHead(place: Place): Promise<Outcome> {
  return { made: null, last: null, head: await headOf(place), nested: [] }
}
