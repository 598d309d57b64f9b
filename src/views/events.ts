import type { EventView } from '../api/contract/session-view.ts'
import { describeEvent } from '../core/describe-event.ts'
import { iso } from '../lib/time.ts'
import { type Home, homeExists } from '../world/os/home.ts'
import { readEvents } from '../world/store/read.ts'

/** What became true of a session, in order, from disk alone. */
export function readEventViews(home: Home, id: string): EventView[] {
  if (!homeExists(home)) return []
  return readEvents(home, id).map(event => {
    const { at, type, ...more } = event
    return { at: iso(at), type, text: describeEvent(event), details: more }
  })
}
