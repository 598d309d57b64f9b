import { type RetryPolicy, pauseAfter } from '../../lib/retry-policy.ts'
import { type Duration, type Instant, formatDuration, formatIso } from '../../lib/time.ts'
import type { Session } from '../session/session-state.ts'
import type { RestartPolicy, WaitLimits } from '../session/supervision-options.ts'
import type { Timings } from '../session/supervisor-timings.ts'

export type RestartDecision = { readonly kind: 'restart'; readonly at: Instant } | { readonly kind: 'give-up' }

const JITTER = 0.25

/**
 * Decides when to restart after a death, given the earlier restarts that still count. Restarts in the future come from
 * a clock that was set back since, so they do not count. `chance` in [0, 1) adds up to a quarter of jitter, so that
 * many sessions do not restart in step.
 */
export function scheduleRestart(
  policy: RestartPolicy,
  past: readonly Instant[],
  now: Instant,
  chance: number,
): RestartDecision {
  const recent = past.filter(at => at > now - policy.window && at <= now).length
  if (recent >= policy.limit) return { kind: 'give-up' }
  const firstPause = recent === 0 ? policy.firstDelay : policy.nextDelay
  const pause = pauseAfter({ firstPause, maxPause: policy.maxDelay, jitter: JITTER }, recent, chance)
  return { kind: 'restart', at: now + pause }
}

/** Returns the longest delay of any restart. */
function maxRestartDelay(policy: RestartPolicy): Duration {
  return policy.maxDelay * (1 + JITTER)
}

const LIMIT_RETRY: RetryPolicy = { firstPause: 60_000, maxPause: 1_800_000, jitter: JITTER }
const OUTAGE_RETRY: RetryPolicy = { firstPause: 5_000, maxPause: 300_000, jitter: JITTER }
/** Sessions that wait for the same moment continue spread over this time, not all at once. */
const STAGGER: Duration = 60_000

/**
 * Decides when to retry after an outage: when the limit ends, if that time is known, else after a pause that doubles
 * with each outage in a row. `chance` in [0, 1) keeps many sessions out of step.
 */
export function retryTimeAfterOutage(
  outage: { readonly until: Instant | null; readonly isLimit: boolean; readonly inARow: number },
  now: Instant,
  chance: number,
): Instant {
  const { until, isLimit, inARow } = outage
  if (until !== null && until > now) return until + Math.round(1_000 + chance * STAGGER)
  return now + pauseAfter(isLimit ? LIMIT_RETRY : OUTAGE_RETRY, inARow + 1, chance)
}

/** Returns the reason not to wait for a usage limit, or null if the session waits. */
export function reasonNotToWait(
  limit: Pick<WaitLimits, 'limit'>,
  wait: { readonly since: Instant; readonly until: Instant },
): string | null {
  if (limit.limit === null) return null
  if (limit.limit === 0) return 'waiting for usage limits is switched off'
  if (wait.until - wait.since <= limit.limit) return null
  return `it would last until ${formatIso(wait.until)}, and oneshot waits ${formatDuration(limit.limit)} at most`
}

/**
 * Returns true if the clock was set back behind the start of a session's wait: a wait of seconds would then last as
 * long as the clock was set back by. A usage limit ends at a time of day, and stays as reported.
 */
export function isClockRolledBack({ phase, spec }: Session, now: Instant, timings: Timings): boolean {
  if (phase.name === 'resting') {
    const isFromLater = phase.cause !== 'limit' && now < phase.since
    // The clock may have been set back between the decision and the rest.
    return isFromLater || (phase.cause === 'crash' && phase.until - now > maxRestartDelay(spec.supervision.restart))
  }
  if (phase.name !== 'stopping') return false
  const interruptGrace = spec.supervision.stopGrace ?? timings.interruptGrace
  return phase.due - now > Math.max(interruptGrace, timings.terminateGrace, timings.sweepPatience)
}
