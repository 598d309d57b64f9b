import type { Instant } from '../lib/time.ts'
import type { EngineContext } from './context.ts'

/** How long an alarm that could not be answered waits before it rings again, in milliseconds. */
const RETRY_DELAY = 1_000

/** Rings for whatever session is due next. What is due stands in the store: this is only the bell. */
export class DueTimer {
  readonly #context: Pick<EngineContext, 'store' | 'clock'>
  readonly #onDue: (sessionId: string, at: Instant) => Promise<void>
  #cancel: () => void = () => undefined
  #isStopped = false

  constructor(
    context: Pick<EngineContext, 'store' | 'clock'>,
    answer: (sessionId: string, at: Instant) => Promise<void>,
  ) {
    this.#context = context
    this.#onDue = answer
  }

  /** One that has just rung in vain, because its session is in trouble, rings again a little later. */
  set(rungAt: Instant = Number.NEGATIVE_INFINITY): void {
    this.#cancel()
    if (this.#isStopped) return
    const due = this.#context.store.nextDue()
    if (due === undefined) return
    const at = due > rungAt ? due : rungAt + RETRY_DELAY
    this.#cancel = this.#context.clock.schedule(at, () => this.#fire())
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel()
  }

  #fire(): void {
    const at = this.#context.clock.now()
    const answered = this.#context.store.dueSessions(at).map(id => this.#onDue(id, at))
    void Promise.all(answered).then(() => this.set(at))
  }
}
