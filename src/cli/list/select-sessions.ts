import type { SessionView } from '../../api/contract/responses.ts'
import type { Instant } from '../../lib/time.ts'
import type { Home } from '../../state/home.ts'
import { displayState, type DisplayState, isLoop } from '../../views/describe-session.ts'
import {
  countEnded,
  findEndedKeys,
  findLiveAndEnded,
  type KeyFilter,
  readViews,
  readWorkers,
} from '../../views/session-search.ts'
import { isLive } from '../session/find-session.ts'

/** The sessions that a list shows. */
export interface Selection {
  /** Null for all folders. */
  readonly cwd: string | null
  readonly state: DisplayState | undefined
  readonly isLiveOnly: boolean
  /** Null for no limit. Live sessions do not count. */
  readonly endedLimit: number | null
  readonly endedSince: Instant | undefined
  /** Includes workers as sessions of their own, not below their loops. */
  readonly isFlat: boolean
}

/** Views of so many sessions take about a megabyte. */
const PAGE_SIZE = 500

const OUTCOMES = ['done', 'failed', 'stopped', 'gave-up'] as const
type OutcomeState = (typeof OUTCOMES)[number]

/** Yields the selected sessions by the page: live ones first, then the latest end. Holds one page at a time. */
export function* selectPages(home: Home, selection: Selection): Generator<SessionView[]> {
  const { state, endedLimit } = selection
  const filters = { live: filterOf(selection), ended: endedFilter(selection) }
  let left = includesEnded(selection) ? (endedLimit ?? Infinity) : 0
  const first = findLiveAndEnded(home, filters, Math.min(left, PAGE_SIZE))
  let page = first.ended
  yield [...first.live.filter(view => state === undefined || displayState(view) === state), ...readViews(home, page)]
  while (page.length === PAGE_SIZE && left > PAGE_SIZE) {
    left -= page.length
    page = findEndedKeys(home, filters.ended, { limit: Math.min(left, PAGE_SIZE), after: page.at(-1) })
    if (page.length > 0) yield readViews(home, page)
  }
}

/** Returns the number of ended sessions that only the limit excludes. */
export function countHidden(home: Home, selection: Selection): number {
  const { endedLimit } = selection
  if (endedLimit === null || !includesEnded(selection)) return 0
  return Math.max(0, countEnded(home, endedFilter(selection)) - endedLimit)
}

function includesEnded({ isLiveOnly, state }: Selection): boolean {
  return !isLiveOnly && (state === undefined || isOutcome(state))
}

function endedFilter(selection: Selection): KeyFilter {
  const { state, endedSince } = selection
  return {
    ...filterOf(selection),
    ...(state !== undefined && isOutcome(state) && { outcome: state }),
    ...(endedSince !== undefined && { endedSince }),
  }
}

function filterOf({ cwd, isFlat }: Selection): KeyFilter {
  return { ...(cwd !== null && { cwds: [cwd] }), ...(!isFlat && { isTopLevel: 'anywhere' }) }
}

function isOutcome(state: DisplayState): state is OutcomeState {
  return (OUTCOMES as readonly DisplayState[]).includes(state)
}

export interface SessionRow {
  readonly session: SessionView
  /** True for a worker of the loop above. */
  readonly isBelow: boolean
}

/** Adds to each loop its workers in the order of their creation: the live ones, or all of them. */
export function nestWorkers(
  home: Home,
  sessions: readonly SessionView[],
  { withEnded }: { withEnded: boolean },
): SessionRow[] {
  return sessions.flatMap(session => [
    { session, isBelow: false },
    ...(isLoop(session) ? readWorkers(home, session) : [])
      .filter(worker => withEnded || isLive(worker))
      .map(worker => ({ session: worker, isBelow: true })),
  ])
}
