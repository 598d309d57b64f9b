import type { Duration, Instant } from '../lib/time.ts'

const FIRST_LIMIT_WAIT: Duration = 60_000
const LONGEST_LIMIT_WAIT: Duration = 1_800_000
const FIRST_WAIT: Duration = 5_000
const LONGEST_WAIT: Duration = 300_000
/** Sessions that wait for the same moment come back over this long, not all at once. */
const STAGGER: Duration = 60_000

/**
 * Decides when to try again after something that is not the session's fault: when the limit ends, where that is known, else
 * after a pause that doubles each time in a row. `chance` in [0, 1) keeps many sessions out of step.
 */
export function judgeOutage(
  outage: { readonly until: Instant | null; readonly isLimit: boolean; readonly inARow: number },
  now: Instant,
  chance: number,
): Instant {
  const { until, isLimit, inARow } = outage
  if (until !== null && until > now) return until + Math.round(1_000 + chance * STAGGER)
  const first = isLimit ? FIRST_LIMIT_WAIT : FIRST_WAIT
  const longest = isLimit ? LONGEST_LIMIT_WAIT : LONGEST_WAIT
  const plain = Math.min(longest, first * 2 ** Math.min(inARow, 20))
  return now + Math.round(plain * (1 + chance / 4))
}
