import type { SessionView } from '../api/contract/session-view.ts'
import { iso } from '../lib/time.ts'
import { type Home, homeExists } from '../world/os/home.ts'
import { readAll, readEvents, readOne } from '../world/store/read.ts'
import { viewOf } from './session-view.ts'

/** Every session, newest first, from disk alone. */
export function readSessions(home: Home): SessionView[] {
  return homeExists(home) ? readAll(home).map(session => viewOf(session, home)) : []
}

export function readSession(home: Home, id: string): SessionView | undefined {
  const session = homeExists(home) ? readOne(home, id) : undefined
  return session === undefined ? undefined : viewOf(session, home)
}

/** What became true of a session, in order. */
export function sessionEvents(home: Home, id: string): { at: string; type: string; [key: string]: unknown }[] {
  return readEvents(home, id).map(event => ({ ...event, at: iso(event.at) }))
}
