import { setTimeout as pause } from 'node:timers/promises'
import { Turnstile } from './turnstile.ts'

/** Lets one deed be done at a time, and rests after each for as many times as long as it took: others have work to do as well. */
export class Pace {
  readonly #turnstile = new Turnstile()
  readonly #rest: number
  #isHurried = false

  constructor(rest: number) {
    this.#rest = rest
  }

  turn<T>(deed: () => Promise<T> | T): Promise<T> {
    return this.#turnstile.pass('', async () => {
      const begun = performance.now()
      try {
        return await deed()
      } finally {
        if (!this.#isHurried) await pause((performance.now() - begun) * this.#rest)
      }
    })
  }

  /** From now on without rests. */
  hurry(): void {
    this.#isHurried = true
  }
}
