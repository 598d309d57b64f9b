import type { Clock } from '../../src/ports/clock.ts'

/** Simulates a kill of the supervisor: it performs no further call. */
export class InjectedCrash extends Error {
  override readonly name = 'Crash'
}

/** Moment of a kill: 1 is before the first call to the outside, 2 is after it, 3 is before the second call … */
export type CrashPoint = number

/**
 * Kills a supervisor at a given moment. Counts each call of the wrapped ports; at the crash point that call and every
 * later one throws, and no timer fires any more.
 */
export class CrashInjector {
  hasFailed = false
  readonly calls: string[] = []
  readonly #crashPoint: CrashPoint | undefined

  constructor(crashPoint?: CrashPoint) {
    this.#crashPoint = crashPoint
  }

  /** Returns the port with a crash check in each of these calls. */
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
      schedule: (at, callback) => clock.schedule(at, () => void (this.hasFailed || callback())),
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
 * Suspends a supervisor in a call to the outside, as SIGSTOP does: before it performs the n-th call. An asynchronous
 * call continues after the supervisor wakes; a synchronous one continues at once, because nothing else can run in
 * between on the same thread.
 */
export class CallSuspender {
  readonly calls: string[] = []
  /** Calls after the suspension, without the call that was suspended. */
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
