import type { SessionId } from '../core/session/session-id-and-name.ts'
import type { Session } from '../core/session/session-state.ts'
import type { Duration } from '../lib/time.ts'
import type { Clock } from '../ports/clock.ts'
import type { Store } from '../ports/store.ts'

/** Sessions between two turns of the event loop: they take about a millisecond. */
const BATCH = 20

interface HousekeepingContext {
  readonly store: Pick<Store, 'unsettled' | 'markSettled'>
  readonly clock: Pick<Clock, 'yieldEventLoop'>
  /** Return true when a part of the supervisor still has work for an ended session. */
  readonly hasOpenWork: readonly ((session: Session) => boolean)[]
}

/**
 * Marks the ended sessions without open work, so that no later supervisor reads them at its start. The mark only saves
 * time: without it, the next supervisor finds out again that nothing is to be done.
 */
export async function settleEnded({ store, clock, hasOpenWork }: HousekeepingContext): Promise<void> {
  const isSettled = (session: Session): boolean =>
    session.phase.name === 'ended' && !hasOpenWork.some(hasWork => hasWork(session))
  const settled: SessionId[] = []
  let count = 0
  for (const session of store.unsettled()) {
    if (isSettled(session)) settled.push(session.spec.id)
    if (++count % BATCH > 0) continue
    // Within this turn nothing else can have changed the sessions.
    if (settled.length > 0) store.markSettled(settled.splice(0))
    await clock.yieldEventLoop()
  }
  if (settled.length > 0) store.markSettled(settled)
}

/** The most sessions of one run, so that a large home takes hours instead of the disk. */
const MAX_REMOVALS = 200

interface RetentionContext {
  readonly store: Pick<Store, 'removable'>
  readonly clock: Pick<Clock, 'now' | 'yieldEventLoop'>
  /** The time for which ended sessions stay; null for ever. */
  readonly keepEnded: Duration | null
  /** Removes a session as `clean` does. Returns false when it stays. */
  readonly remove: (id: SessionId) => Promise<boolean>
}

/** Removes sessions whose end is older than the user wants to keep them, one at a time. Returns their number. */
export async function removeExpired({ store, clock, keepEnded, remove }: RetentionContext): Promise<number> {
  if (keepEnded === null) return 0
  let removed = 0
  for (const id of store.removable(clock.now() - keepEnded, MAX_REMOVALS)) {
    if (await remove(id)) removed++
    await clock.yieldEventLoop()
  }
  return removed
}
