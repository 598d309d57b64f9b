import type { Duration, Instant } from '../../lib/time.ts'
import type { Loop } from './loop.ts'

/** After so long without a limit one more is let in again. */
const CALM: Duration = 300_000

/** Workers of one account meet the same limit one after the other. */
const ONE_LIMIT: Duration = 60_000

/** A usage limit was met: half as many at a time, but one. */
export function narrowed(loop: Loop, at: Instant): Loop {
  if (loop.limitedAt !== null && at < loop.limitedAt + ONE_LIMIT) return { ...loop, widthSince: at }
  return { ...loop, width: Math.max(1, Math.floor(loop.width / 2)), widthSince: at, limitedAt: at }
}

/** One more, once it has been calm for long enough. */
export function widened(loop: Loop, at: Instant): Loop {
  const isLimited = loop.tasks.some(({ stand }) => stand.name === 'working' && stand.rest !== null)
  if (loop.width >= (loop.spec.parallel ?? 1) || isLimited || at < loop.widthSince + CALM) return loop
  return { ...loop, width: loop.width + 1, widthSince: at }
}

/** When it may be widened next; null when it is as wide as it gets. */
export function widensAt(loop: Loop): Instant | null {
  return loop.width >= (loop.spec.parallel ?? 1) ? null : loop.widthSince + CALM
}
