import { type Duration, formatDuration } from '../lib/time.ts'
import type { Clock } from '../ports/clock.ts'
import { Superseded } from '../ports/store.ts'
import { Trouble } from '../lib/errors.ts'

/** How long to wait for a disk that is full, or a configuration that cannot be understood. */
export const RETRY_DELAY: Duration = 30_000

interface RetryContext {
  readonly clock: Clock
  readonly onTrouble: (sessionId: string, cause: unknown) => void
  readonly ending: AbortSignal
}

/** Writes something down, again and again until it is, for whoever must not act before that. */
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

/** Resolves after that time, or when everything ends. */
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

/** Does something that ends when its time is over or everything does, whether it listens or not. */
export function withTimeout<T>(
  action: (signal: AbortSignal) => Promise<T>,
  { clock, limit, doing, ending: abortSignal }: { clock: Clock; limit: Duration; doing: string; ending: AbortSignal },
): Promise<T> {
  const end = new AbortController()
  return new Promise<T>((resolve, reject) => {
    const breakOff = (why: string): void => {
      end.abort()
      reject(new Trouble(doing, why))
    }
    const whenAllEnds = (): void => breakOff('the supervisor is being stopped')
    if (abortSignal.aborted) return whenAllEnds()
    abortSignal.addEventListener('abort', whenAllEnds)
    const cancel = clock.schedule(clock.now() + limit, () => breakOff(`no answer within ${formatDuration(limit)}`))
    const finish = (): void => {
      cancel()
      abortSignal.removeEventListener('abort', whenAllEnds)
    }
    const done = (async () => action(end.signal))() // What it throws at once is no different.
    done.finally(finish).then(resolve, reject)
  })
}

/** After the first failure; each further one doubles it. */
const FIRST_PAUSE: Duration = 30_000
const MAX_PAUSE: Duration = 1_800_000

interface BackoffPause {
  readonly failures: number
  readonly cause: unknown
  readonly waiting: Set<string>
  /** Undefined once it is over. */
  cancel: (() => void) | undefined
}

/** Keeps us from asking again and again what has just failed. Whoever was turned away is called when the pause is over. */
export class Backoff {
  readonly #clock: Clock
  readonly #onPauseOver: (turnedAway: readonly string[]) => void
  readonly #pauses = new Map<string, BackoffPause>()

  constructor(clock: Clock, call: (turnedAway: readonly string[]) => void) {
    this.#clock = clock
    this.#onPauseOver = call
  }

  /** Why this is not to be asked now; who wanted to is remembered then. Undefined when it may be asked. */
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
