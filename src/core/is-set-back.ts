import type { Instant } from '../lib/time.ts'
import { longestDelay } from './judge-restart.ts'
import type { Rules } from './rules.ts'
import type { Session } from './session.ts'

/**
 * Whether the clock was set back behind the moment from which a session waits: what was meant to take seconds would take
 * as long as the clock was set back by. A limit is over at a time of day, and stays as it was told.
 */
export function isSetBack({ phase, spec }: Session, now: Instant, rules: Rules): boolean {
  if (phase.name === 'resting') {
    const isFromLater = phase.cause !== 'limit' && now < phase.since
    // It may have been set back between the verdict and the rest.
    return isFromLater || (phase.cause === 'crash' && phase.until - now > longestDelay(spec.restart))
  }
  if (phase.name !== 'stopping' || phase.step === 'prove') return false
  return phase.due - now > Math.max(rules.interruptGrace, rules.terminateGrace, rules.sweepPatience)
}
