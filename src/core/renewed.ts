import type { Instant } from '../lib/time.ts'
import type { Session } from './session.ts'
import { spentWithChildren } from './spending.ts'

/** A session that somebody wants to go on: its time, its budget and its restarts are counted anew. */
export function renewed(session: Session, at: Instant): Session {
  const spending = { ...session.spending, waived: spentWithChildren(session.spending) }
  const { stoppedBy: _, ...wanted } = session
  return { ...wanted, wanted: 'run', forgivenAt: at, outages: 0, limitedSince: null, clockSince: at, spending }
}
