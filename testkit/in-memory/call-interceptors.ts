import type { Clock } from '../../src/ports/clock.ts'

/** The supervisor's power has failed: whatever it was doing, it does nothing more. */
export class InjectedCrash extends Error {
  override readonly name = 'Crash'
}

/** Moments at which the power may fail: before the first call to the outside is 1, after it 2, before the second 3 … */
export type CrashPoint = number

/**
 * One supervisor's power. Its ports go through here, each call is counted, and at the given moment the power fails:
 * that call and every later one throws, and no alarm reaches it any more.
 */
export class CrashInjector {
  hasFailed = false
  readonly calls: string[] = []
  readonly #crashPoint: CrashPoint | undefined

  constructor(crashPoint?: CrashPoint) {
    this.#crashPoint = crashPoint
  }

  /** The port, with its power in the line of each of these calls. */
  wrap<Port extends object>(port: Port, calls: readonly (keyof Port & string)[]): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        const isWrapped = (calls as readonly (string | symbol)[]).includes(name)
        return isWrapped ? this.#counted(String(name), value.bind(target)) : value.bind(target)
      },
    })
  }

  wrapClock(clock: Clock): Clock {
    return {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      random: () => clock.random(),
      yieldEventLoop: () => clock.yieldEventLoop(),
      schedule: (at, bell) => clock.schedule(at, () => void (this.hasFailed || bell())),
    }
  }

  #counted(name: string, call: (...args: unknown[]) => unknown): (...args: unknown[]) => unknown {
    return (...args) => {
      if (this.hasFailed) throw new InjectedCrash(`${name} after the power had failed`)
      const number = this.calls.push(name)
      if (this.#crashPoint === number * 2 - 1) this.#crash(`before ${name}`)
      const result = call(...args)
      if (this.#crashPoint !== number * 2) return result
      return result instanceof Promise ? result.then(() => this.#crash(`after ${name}`)) : this.#crash(`after ${name}`)
    }
  }

  #crash(when: string): never {
    this.hasFailed = true
    throw new InjectedCrash(when)
  }
}

/**
 * Suspends a supervisor in the middle of a call to the outside, as SIGSTOP would: before the n-th one is carried out.
 * A call that can wait is carried out only once the supervisor is woken; another continues at once, for nothing can happen
 * in between on the same thread.
 */
export class CallSuspender {
  readonly calls: string[] = []
  /** What it called after it was suspended, the call it was suspended in left out. */
  readonly after: string[] = []
  readonly #number: number
  readonly #onSuspend: () => void
  readonly begun: Promise<void>
  readonly #woken: Promise<void>
  #begin: () => void = () => undefined
  #wake: () => void = () => undefined

  constructor(number: number, onSuspend: () => void) {
    this.#number = number
    this.#onSuspend = onSuspend
    this.begun = new Promise(resolve => {
      this.#begin = resolve
    })
    this.#woken = new Promise(resolve => {
      this.#wake = resolve
    })
  }

  get hasBegun(): boolean {
    return this.calls.length >= this.#number
  }

  wake(): void {
    this.#wake()
  }

  wrap<Port extends object>(port: Port, calls: readonly (keyof Port & string)[]): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        const isWrapped = (calls as readonly (string | symbol)[]).includes(name)
        return isWrapped ? this.#counted(String(name), value.bind(target)) : value.bind(target)
      },
    })
  }

  #counted(name: string, call: (...args: unknown[]) => unknown): (...args: unknown[]) => unknown {
    return (...args) => {
      if (this.hasBegun) this.after.push(name)
      if (this.calls.push(name) !== this.#number) return call(...args)
      this.#onSuspend()
      this.#begin()
      return ASYNC_CALLS.has(name) ? this.#woken.then(() => call(...args)) : call(...args)
    }
  }
}

const ASYNC_CALLS = new Set([
  'prepare',
  'launch',
  'interrupt',
  'terminate',
  'sweep',
  'closePanes',
  'repair',
  'deliver',
  'run',
])
