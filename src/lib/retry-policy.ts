import type { Duration } from './time.ts'
import { type TimerClock, sleep } from './timeout.ts'

/** When to try again after a failure. */
export interface RetryPolicy {
  /** Milliseconds after the first failure. */
  readonly firstPause: Duration
  /** Each further failure multiplies the pause by this factor. Absent: 2. */
  readonly factor?: number
  /** Milliseconds; the pause grows no further. */
  readonly maxPause: Duration
  /** The number of tries after which the caller gives up. Absent: never. */
  readonly maxTries?: number
  /** Share of the pause that chance may add, so that many callers do not retry in step. Absent: none. */
  readonly jitter?: number
}

/** 2 to this power exceeds every pause. The limit keeps the product a finite number. */
const MAX_EXPONENT = 50

/** Returns the pause after this many failures in a row. `chance` in [0, 1) chooses the jitter. */
export function pauseAfter(policy: RetryPolicy, failures: number, chance = 0): Duration {
  const { firstPause, factor = 2, maxPause, jitter = 0 } = policy
  const plain = firstPause * factor ** Math.min(Math.max(0, failures - 1), MAX_EXPONENT)
  return Math.round(Math.min(maxPause, plain) * (1 + chance * jitter))
}

/** Returns a policy with equal pauses. */
export function fixedPause(pause: Duration): RetryPolicy {
  return { firstPause: pause, factor: 1, maxPause: pause }
}

interface RetryOptions {
  readonly policy: RetryPolicy
  readonly clock: TimerClock
  readonly signal: AbortSignal
  /** Decides if another try may help; by default, always. */
  readonly shouldRetry?: (cause: unknown) => boolean
}

/** Runs an action until it succeeds. Throws its last error when it gives up or `signal` aborts. */
export async function retry<T>(action: () => Promise<T> | T, options: RetryOptions): Promise<T> {
  const { policy, clock, signal, shouldRetry = () => true } = options
  for (let tries = 1; ; tries++) {
    try {
      return await action()
    } catch (cause) {
      if (signal.aborted || tries >= (policy.maxTries ?? Infinity) || !shouldRetry(cause)) throw cause
      await sleep(pauseAfter(policy, tries), { clock, signal })
      if (signal.aborted) throw cause
    }
  }
}
