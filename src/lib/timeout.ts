import { Trouble } from './errors.ts'
import { type Duration, type Instant, formatDuration } from './time.ts'

/** The part of a clock that sets timers. */
export interface TimerClock {
  now(): Instant
  /** Calls back once at this time or soon after; returns a function that cancels the call. */
  schedule(at: Instant, callback: () => void): () => void
}

/** Resolves after the duration, or when `signal` aborts. */
export function sleep(
  duration: Duration,
  { clock, signal }: { readonly clock: TimerClock; readonly signal: AbortSignal },
): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) return resolve()
    const wake = (): void => {
      cancel()
      signal.removeEventListener('abort', wake)
      resolve()
    }
    const cancel = clock.schedule(clock.now() + duration, wake)
    signal.addEventListener('abort', wake)
  })
}

export interface TimeoutOptions {
  readonly clock: TimerClock
  readonly limit: Duration
  /** Names the action in the error message. */
  readonly doing: string
  readonly signal: AbortSignal
}

/** Runs an action and rejects at the time limit or when `signal` aborts, even if the action ignores its own signal. */
export function withTimeout<T>(
  action: (signal: AbortSignal) => Promise<T>,
  { clock, limit, doing, signal }: TimeoutOptions,
): Promise<T> {
  const controller = new AbortController()
  return new Promise<T>((resolve, reject) => {
    const abort = (why: string): void => {
      controller.abort()
      reject(new Trouble(doing, why))
    }
    const onAbort = (): void => abort('it was cancelled')
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort)
    const cancel = clock.schedule(clock.now() + limit, () => abort(`no answer within ${formatDuration(limit)}`))
    const finish = (): void => {
      cancel()
      signal.removeEventListener('abort', onAbort)
    }
    // The async function turns a synchronous throw into a rejection.
    const done = (async () => action(controller.signal))()
    done.finally(finish).then(resolve, reject)
  })
}
