import type { SessionView } from '../api/contract/responses.ts'
import { type Home, homeExists } from '../state/home.ts'
import type { IndexReader, KeyFilter, SessionKey } from '../world/store/index-reader.ts'
import { searchSessions } from '../world/store/reader.ts'
import { toSessionView } from './session-view.ts'

export type { KeyFilter, SessionKey } from '../world/store/index-reader.ts'

/** Returns the live sessions, newest first, from disk alone. */
export function findLive(home: Home, filter: KeyFilter = {}): SessionView[] {
  return search(home, [], index => views(home, index, index.live(filter)))
}

/**
 * Returns the live sessions and the keys of at most `limit` ended ones, from one state of the database: a session that
 * ends meanwhile is in one of the lists.
 */
export function findLiveAndEnded(
  home: Home,
  filters: { readonly live: KeyFilter; readonly ended: KeyFilter },
  limit: number,
): { live: SessionView[]; ended: SessionKey[] } {
  return search(home, { live: [], ended: [] }, index => ({
    live: views(home, index, index.live(filters.live)),
    ended: limit === 0 ? [] : index.ended(filters.ended, { limit }),
  }))
}

/** Returns the keys of ended sessions, the latest end first: at most `limit`, behind the session `after`. */
export function findEndedKeys(
  home: Home,
  filter: KeyFilter,
  page: { limit: number; after?: SessionKey | undefined },
): SessionKey[] {
  return search(home, [], index => index.ended(filter, page))
}

export function findEnded(home: Home, filter: KeyFilter, { limit }: { limit: number }): SessionView[] {
  return search(home, [], index => views(home, index, index.ended(filter, { limit })))
}

export function readViews(home: Home, keys: readonly SessionKey[]): SessionView[] {
  return search(home, [], index => views(home, index, keys))
}

/** Returns the different names of ended sessions, the latest end first. */
export function findEndedNames(home: Home, filter: KeyFilter): string[] {
  return search(home, [], index => index.endedNames(filter))
}

export function countEnded(home: Home, filter: KeyFilter = {}): number {
  return search(home, 0, index => index.countEnded(filter))
}

/** Returns true when a session, live or ended, passes the filter. */
export function hasSession(home: Home, filter: KeyFilter = {}): boolean {
  return search(home, false, index => index.has(filter))
}

/** Returns the workers of a loop, oldest first. */
export function readWorkers(home: Home, { id }: Pick<SessionView, 'id'>): SessionView[] {
  return search(home, [], index => views(home, index, index.children(id)))
}

function views(home: Home, index: IndexReader, keys: readonly SessionKey[]): SessionView[] {
  return index.loadAll(keys.map(({ id }) => id)).map(session => toSessionView(session, home))
}

function search<T>(home: Home, none: T, find: (index: IndexReader) => T): T {
  return homeExists(home) ? searchSessions(home, find) : none
}
