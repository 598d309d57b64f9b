import type { Duration } from '../lib/time.ts'
import type { Clock } from '../ports/clock.ts'

/** After the first failure; each further one doubles it. */
const FIRST_PAUSE: Duration = 30_000
const LONGEST_PAUSE: Duration = 1_800_000

interface Pause {
  readonly failures: number
  readonly cause: unknown
  readonly turnedAway: Set<string>
  /** Undefined once it is over. */
  cancel: (() => void) | undefined
}

/** Keeps us from asking again and again what has just failed. Whoever was turned away is called when the pause is over. */
export class Backoff {
  readonly #clock: Clock
  readonly #call: (turnedAway: readonly string[]) => void
  readonly #pauses = new Map<string, Pause>()

  constructor(clock: Clock, call: (turnedAway: readonly string[]) => void) {
    this.#clock = clock
    this.#call = call
  }

  /** Why this is not to be asked now; who wanted to is remembered then. Undefined when it may be asked. */
  turnsAway(key: string, who: string): { readonly cause: unknown } | undefined {
    const pause = this.#pauses.get(key)
    if (pause?.cancel === undefined) return undefined
    pause.turnedAway.add(who)
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
    const length = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (failures - 1))
    const cancel = this.#clock.ring(this.#clock.now() + length, () => this.#end(key))
    this.#pauses.set(key, { failures, cause, turnedAway: new Set([who]), cancel })
  }

  stop(): void {
    for (const { cancel } of this.#pauses.values()) cancel?.()
  }

  #end(key: string): void {
    const pause = this.#pauses.get(key)
    if (pause === undefined) return
    pause.cancel = undefined
    this.#call([...pause.turnedAway])
  }
}
