import { setTimeout as pause } from 'node:timers/promises'
import { KeyedMutex } from '../lib/keyed-mutex.ts'

/** Runs one action at a time, and rests after each for a multiple of its duration, so that others can work as well. */
export class DutyCycle {
  readonly #mutex = new KeyedMutex()
  readonly #rest: number
  #isRestless = false

  constructor(rest: number) {
    this.#rest = rest
  }

  run<T>(action: () => Promise<T> | T): Promise<T> {
    return this.#mutex.run('', async () => {
      const begun = performance.now()
      try {
        return await action()
      } finally {
        if (!this.#isRestless) await pause((performance.now() - begun) * this.#rest)
      }
    })
  }

  /** Ends the rests from now on. */
  stopResting(): void {
    this.#isRestless = true
  }
}
