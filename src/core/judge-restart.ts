import type { Duration, Instant } from '../lib/time.ts'
import type { RestartPolicy } from './session.ts'

export type RestartVerdict = { readonly kind: 'restart'; readonly at: Instant } | { readonly kind: 'give-up' }

const JITTER = 0.25

/**
 * Decides when to try again after a death, given the restarts that came before it and are not forgiven.
 * Those of a time that has not come are of a clock that was set back since; they do not count.
 * `chance` in [0, 1) adds up to a quarter of jitter, so that many sessions do not come back in step.
 */
export function judgeRestart(
  policy: RestartPolicy,
  past: readonly Instant[],
  now: Instant,
  chance: number,
): RestartVerdict {
  const recent = past.filter(at => at > now - policy.window && at <= now).length
  if (recent >= policy.limit) return { kind: 'give-up' }
  const plain = recent === 0 ? policy.firstDelay : policy.nextDelay * 2 ** (recent - 1)
  const delay = Math.min(policy.maxDelay, plain)
  return { kind: 'restart', at: now + Math.round(delay * (1 + chance * JITTER)) }
}

/** No restart is ever put off for longer. */
export function longestDelay(policy: RestartPolicy): Duration {
  return policy.maxDelay * (1 + JITTER)
}
