import type { SessionId } from '../core/session/session-id-and-name.ts'
import type { Instant } from '../lib/time.ts'
import type { EngineContext } from './context.ts'

/** Milliseconds before the timer fires again for a session whose due signal had no effect. */
const RETRY_DELAY = 1_000

/** Fires for the session that is due next. The store holds the due times; this class holds only the timer. */
export class WakeUpTimer {
  readonly #context: Pick<EngineContext, 'store' | 'clock'>
  readonly #onDue: (sessionId: SessionId, at: Instant) => Promise<void>
  #cancel: () => void = () => undefined
  #isStopped = false

  constructor(
    context: Pick<EngineContext, 'store' | 'clock'>,
    onDue: (sessionId: SessionId, at: Instant) => Promise<void>,
  ) {
    this.#context = context
    this.#onDue = onDue
  }

  /**
   * Schedules the next due time. If the timer fired at `firedAt` and the session is still due because of trouble, it
   * fires again after `RETRY_DELAY`.
   */
  set(firedAt: Instant = Number.NEGATIVE_INFINITY): void {
    this.#cancel()
    if (this.#isStopped) return
    const due = this.#context.store.nextDue()
    if (due === undefined) return
    const at = due > firedAt ? due : firedAt + RETRY_DELAY
    this.#cancel = this.#context.clock.schedule(at, () => this.#fire())
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel()
  }

  #fire(): void {
    const at = this.#context.clock.now()
    const handled = this.#context.store.dueSessions(at).map(id => this.#onDue(id, at))
    void Promise.all(handled).then(() => this.set(at))
  }
}
