/**
 * Suspends a supervisor in the middle of a call to the outside, as SIGSTOP would: before the n-th one is carried out.
 * A call that can wait is carried out only once the supervisor is woken; another continues at once, for nothing can happen
 * in between on the same thread.
 */
export class Suspension {
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

  #counted(name: string, call: (...args: unknown[]) => unknown): (...args: unknown[]) => unknown {
    return (...args) => {
      if (this.hasBegun) this.after.push(name)
      if (this.calls.push(name) !== this.#number) return call(...args)
      this.#onSuspend()
      this.#begin()
      return CAN_WAIT.has(name) ? this.#woken.then(() => call(...args)) : call(...args)
    }
  }
}

const CAN_WAIT = new Set(['prepare', 'launch', 'interrupt', 'terminate', 'sweep', 'close', 'mend', 'deliver', 'run'])
