import type { Signal } from '../core/session/signals.ts'
import { describeRequester } from '../core/session/reactions/stop.ts'
import type { Instant } from '../lib/time.ts'
import type { AttemptRef, AttemptRunner } from '../ports/runtime.ts'

/**
 * Returns the signal for a request that a command stored for this attempt while no supervisor answered; empty without
 * one.
 */
export function requestedIn(work: AttemptRunner, ref: AttemptRef, at: Instant): Signal[] {
  const request = work.request(ref)
  if (request === null) return []
  const by = request.by ?? undefined
  return request.type === 'stop'
    ? [{ at, type: 'user.stop', ...(by !== undefined && { by }) }]
    : [{ at, type: 'user.hold', reason: `held by ${describeRequester(by)}` }]
}
