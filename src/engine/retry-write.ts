import { fixedPause, retry } from '../lib/retry-policy.ts'
import type { Clock } from '../ports/clock.ts'
import { Superseded } from '../ports/store.ts'

/** Milliseconds; time for a user to make room on a full disk. */
export const FULL_DISK_RETRY = fixedPause(30_000)

interface WriteContext {
  readonly clock: Clock
  readonly onTrouble: (sessionId: string, cause: unknown) => void
  readonly signal: AbortSignal
}

/** Repeats a write until it succeeds, the supervisor stops, or another one has taken over. */
export async function retryWrite(write: () => void, { clock, onTrouble, signal }: WriteContext): Promise<void> {
  const isWorthRetrying = (cause: unknown): boolean => {
    onTrouble('', cause)
    return !(cause instanceof Superseded)
  }
  try {
    await retry(write, { policy: FULL_DISK_RETRY, clock, signal, shouldRetry: isWorthRetrying })
  } catch {
    // `onTrouble` has the cause already, and the next supervisor repeats the work.
  }
}
