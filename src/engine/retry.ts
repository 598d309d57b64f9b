import { type Duration, formatDuration } from '../lib/time.ts'
import type { Clock } from '../ports/clock.ts'
import { Superseded } from '../ports/store.ts'
import { Trouble } from '../lib/errors.ts'

/** Milliseconds before a retry when the disk is full or the configuration is invalid. */
export const RETRY_DELAY: Duration = 30_000

interface RetryContext {
  readonly clock: Clock
  readonly onTrouble: (sessionId: string, cause: unknown) => void
  readonly ending: AbortSignal
}

/** Repeats a write until it succeeds, for callers that must not act before it. */
export async function retryWrite(work: () => void, context: RetryContext): Promise<void> {
  const { onTrouble, ending: abortSignal } = context
  while (!abortSignal.aborted) {
    try {
      return work()
    } catch (cause) {
      onTrouble('', cause)
      if (cause instanceof Superseded) return
    }
    await sleep(RETRY_DELAY, context)
  }
}

/** Resolves after the duration, or when `ending` aborts. */
export function sleep(
  duration: Duration,
  { clock, ending: abortSignal }: Pick<RetryContext, 'clock' | 'ending'>,
): Promise<void> {
  return new Promise(resolve => {
    const wake = (): void => {
      cancel()
      abortSignal.removeEventListener('abort', wake)
      resolve()
    }
    const cancel = clock.schedule(clock.now() + duration, wake)
    abortSignal.addEventListener('abort', wake)
  })
}

/** Runs an action and rejects at the time limit or when `ending` aborts, even if the action ignores its signal. */
export function withTimeout<T>(
  action: (signal: AbortSignal) => Promise<T>,
  { clock, limit, doing, ending: abortSignal }: { clock: Clock; limit: Duration; doing: string; ending: AbortSignal },
): Promise<T> {
  const controller = new AbortController()
  return new Promise<T>((resolve, reject) => {
    const abort = (why: string): void => {
      controller.abort()
      reject(new Trouble(doing, why))
    }
    const onAbort = (): void => abort('the supervisor is being stopped')
    if (abortSignal.aborted) return onAbort()
    abortSignal.addEventListener('abort', onAbort)
    const cancel = clock.schedule(clock.now() + limit, () => abort(`no answer within ${formatDuration(limit)}`))
    const finish = (): void => {
      cancel()
      abortSignal.removeEventListener('abort', onAbort)
    }
    // The async function turns a synchronous throw into a rejection.
    const done = (async () => action(controller.signal))()
    done.finally(finish).then(resolve, reject)
  })
}

/** Milliseconds after the first failure; each further failure doubles the pause. */
const FIRST_PAUSE: Duration = 30_000
const MAX_PAUSE: Duration = 1_800_000

interface BackoffPause {
  readonly failures: number
  readonly cause: unknown
  readonly waiting: Set<string>
  /** Undefined once the pause is over. */
  cancel: (() => void) | undefined
}

/** Delays repeated calls after a failure, and calls the blocked callers back when the pause is over. */
export class Backoff {
  readonly #clock: Clock
  readonly #onPauseOver: (turnedAway: readonly string[]) => void
  readonly #pauses = new Map<string, BackoffPause>()

  constructor(clock: Clock, onPauseOver: (turnedAway: readonly string[]) => void) {
    this.#clock = clock
    this.#onPauseOver = onPauseOver
  }

  /** Returns the cause of the pause and remembers `who` for the call back; undefined when the caller may proceed. */
  blocks(key: string, who: string): { readonly cause: unknown } | undefined {
    const pause = this.#pauses.get(key)
    if (pause?.cancel === undefined) return undefined
    pause.waiting.add(who)
    return pause
  }

  succeed(key: string): void {
    this.#pauses.get(key)?.cancel?.()
    this.#pauses.delete(key)
  }

  fail(key: string, who: string, cause: unknown): void {
    const before = this.#pauses.get(key)
    before?.cancel?.()
    const failures = (before?.failures ?? 0) + 1
    const length = Math.min(MAX_PAUSE, FIRST_PAUSE * 2 ** (failures - 1))
    const cancel = this.#clock.schedule(this.#clock.now() + length, () => this.#end(key))
    this.#pauses.set(key, { failures, cause, waiting: new Set([who]), cancel })
  }

  stop(): void {
    for (const { cancel } of this.#pauses.values()) cancel?.()
  }

  #end(key: string): void {
    const pause = this.#pauses.get(key)
    if (pause === undefined) return
    pause.cancel = undefined
    this.#onPauseOver([...pause.waiting])
  }
}
