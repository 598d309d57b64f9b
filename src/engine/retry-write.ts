import type { Timings } from '../core/session/supervisor-timings.ts'
import { fixedPause, retry } from '../lib/retry-policy.ts'
import type { Clock } from '../ports/clock.ts'
import { Superseded } from '../ports/store.ts'

interface WriteContext {
  readonly clock: Clock
  readonly timings: Pick<Timings, 'servicePause'>
  readonly onTrouble: (subject: string, cause: unknown) => void
  readonly signal: AbortSignal
}

/** Repeats a write until it succeeds, the supervisor stops, or another one has taken over. */
export async function retryWrite(write: () => void, context: WriteContext): Promise<void> {
  const { clock, timings, onTrouble, signal } = context
  const policy = fixedPause(timings.servicePause)
  const isWorthRetrying = (cause: unknown): boolean => {
    onTrouble('', cause)
    return !(cause instanceof Superseded)
  }
  try {
    await retry(write, { policy, clock, signal, shouldRetry: isWorthRetrying })
  } catch {
    // `onTrouble` has the cause already, and the next supervisor repeats the work.
  }
}
