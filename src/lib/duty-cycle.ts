import { setTimeout as pause } from 'node:timers/promises'
import { KeyedMutex } from './keyed-mutex.ts'

/** Lets one deed be done at a time, and rests after each for as many times as long as it took: others have work to do as well. */
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

  /** From now on without rests. */
  stopResting(): void {
    this.#isRestless = true
  }
}
