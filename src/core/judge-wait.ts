import { formatDuration, type Instant, iso } from '../lib/time.ts'
import type { Patience } from './session.ts'

/** Decides whether a usage limit is waited for; the reason why not, or null when it is. */
export function judgeWait(
  patience: Pick<Patience, 'limit'>,
  wait: { readonly since: Instant; readonly until: Instant },
): string | null {
  if (patience.limit === null) return null
  if (patience.limit === 0) return 'waiting for usage limits is switched off'
  if (wait.until - wait.since <= patience.limit) return null
  return `it would last until ${iso(wait.until)}, and oneshot waits ${formatDuration(patience.limit)} at most`
}
