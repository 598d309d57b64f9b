import type { Session } from '../core/session.ts'
import type { Signal } from '../core/signals.ts'
import type { Duration, Instant } from '../lib/time.ts'
import { reasonIn, Trouble } from '../lib/trouble.ts'
import { type Kept, Unkept } from '../ports/checkpoints.ts'

/** What could not be saved for so long is not tried again until there is another reason to. */
const GIVE_UP_AFTER: Duration = 3_600_000

/** One that was made by a supervisor that did not live to tell of it is news, too. */
export function tell({ checkpoint }: Kept, at: Instant, { saved }: Session): Signal {
  const isNews = saved.last === null || saved.last.number < checkpoint.number
  return isNews ? { at, type: 'checkpoint.saved', checkpoint } : { at, type: 'checkpoint.unneeded' }
}

export function failureOf(cause: unknown, at: Instant, { saved }: Session): Signal {
  const isHopeless = cause instanceof Unkept || (cause instanceof Trouble && !cause.mayHelpToRetry)
  const isTooOld = saved.wanted !== null && at - saved.wanted.at > GIVE_UP_AFTER
  return { at, type: 'checkpoint.failed', reason: reasonIn(cause), isFinal: isHopeless || isTooOld }
}
