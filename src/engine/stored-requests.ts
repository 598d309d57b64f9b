import type { Signal } from '../core/signals.ts'
import { whoIs } from '../core/stopping.ts'
import type { Instant } from '../lib/time.ts'
import type { AttemptRef, Work } from '../ports/work.ts'

/** The signal for a request that a command stored for this attempt while no supervisor answered; nothing when there is none. */
export function requestedIn(work: Work, ref: AttemptRef, at: Instant): Signal[] {
  const request = work.request(ref)
  if (request === null) return []
  const by = request.by ?? undefined
  return request.type === 'stop'
    ? [{ at, type: 'user.stop', ...(by !== undefined && { by }) }]
    : [{ at, type: 'user.hold', reason: `held by ${whoIs(by)}` }]
}
