import type { Clock } from '../../ports/clock.ts'

/** The supervisor's power has failed: whatever it was doing, it does nothing more. */
export class Crash extends Error {
  override readonly name = 'Crash'
}

/** Moments at which the power may fail: before the first call to the outside is 1, after it 2, before the second 3 … */
export type Moment = number

/**
 * One supervisor's power. Its ports go through here, each call is counted, and at the given moment the power fails:
 * that call and every later one throws, and no alarm reaches it any more.
 */
export class Power {
  hasFailed = false
  readonly calls: string[] = []
  readonly #moment: Moment | undefined

  constructor(moment?: Moment) {
    this.#moment = moment
  }

  /** The port, with its power in the line of each of these calls. */
  feed<Port extends object>(port: Port, calls: readonly (keyof Port & string)[]): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        const isFed = (calls as readonly (string | symbol)[]).includes(name)
        return isFed ? this.#counted(String(name), value.bind(target)) : value.bind(target)
      },
    })
  }

  feedClock(clock: Clock): Clock {
    return {
      now: () => clock.now(),
      awake: () => clock.awake(),
      chance: () => clock.chance(),
      breathe: () => clock.breathe(),
      ring: (at, bell) => clock.ring(at, () => void (this.hasFailed || bell())),
    }
  }

  #counted(name: string, call: (...args: unknown[]) => unknown): (...args: unknown[]) => unknown {
    return (...args) => {
      if (this.hasFailed) throw new Crash(`${name} after the power had failed`)
      const number = this.calls.push(name)
      if (this.#moment === number * 2 - 1) this.#fail(`before ${name}`)
      const result = call(...args)
      if (this.#moment !== number * 2) return result
      return result instanceof Promise ? result.then(() => this.#fail(`after ${name}`)) : this.#fail(`after ${name}`)
    }
  }

  #fail(when: string): never {
    this.hasFailed = true
    throw new Crash(when)
  }
}
