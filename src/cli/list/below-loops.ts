import type { SessionView } from '../../api/contract/session-view.ts'
import { isLive, withoutWorkers } from '../find-session.ts'

export interface Row {
  readonly session: SessionView
  /** It works for the one above. */
  readonly isBelow: boolean
}

/**
 * Sessions in their order, those who work for a loop below it, in the order they were begun: while they live, or all of them. `fits` chooses among those
 * that work for nobody who is there.
 */
export function belowLoops(
  sessions: readonly SessionView[],
  { fits, isWhole }: { fits: (session: SessionView) => boolean; isWhole: boolean },
): Row[] {
  return withoutWorkers(sessions)
    .filter(fits)
    .flatMap(session => [
      { session, isBelow: false },
      ...sessions
        .filter(({ parent }) => parent === session.id)
        .filter(worker => isWhole || isLive(worker))
        .toSorted((a, b) => a.createdAt.localeCompare(b.createdAt))
        .map(worker => ({ session: worker, isBelow: true })),
    ])
}
