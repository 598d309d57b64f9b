import { type RetryPolicy, pauseAfter } from '../lib/retry-policy.ts'
import type { Clock } from '../ports/clock.ts'

const RETRY: RetryPolicy = { firstPause: 30_000, maxPause: 1_800_000 }

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
    const cancel = this.#clock.schedule(this.#clock.now() + pauseAfter(RETRY, failures), () => this.#end(key))
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
