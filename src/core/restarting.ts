import type { Duration, Instant } from '../lib/time.ts'
import type { Event } from './events.ts'
import type { Session } from './session.ts'

const HOUR: Duration = 3_600_000

/** Counts a restart after a crash. Too many within an hour are told, even though it recovers; once an hour. */
export function noteRestart(session: Session, at: Instant): { session: Session; events: Event[] } {
  const { spec, alertedAt } = session
  const memory = Math.max(HOUR, spec.restart.window)
  const restarts = [...session.restarts.filter(earlier => earlier > at - memory), at]
  const counted: Session = { ...session, restarts, restartCount: session.restartCount + 1 }
  const inAnHour = restarts.filter(earlier => earlier > at - HOUR).length
  const isTold = alertedAt !== null && alertedAt > at - HOUR
  if (inAnHour <= spec.alertAfter || isTold) return { session: counted, events: [] }
  return {
    session: { ...counted, alertedAt: at },
    events: [{ at, type: 'session.restarting-often', restarts: inAnHour, within: HOUR }],
  }
}
