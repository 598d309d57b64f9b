import type { Instant } from '../lib/time.ts'
import type { World } from './world.ts'

/** How long an alarm that could not be answered waits before it rings again, in milliseconds. */
const RING_AGAIN = 1_000

/** Rings for whatever session is due next. What is due stands in the store: this is only the bell. */
export class Alarm {
  readonly #world: Pick<World, 'store' | 'clock'>
  readonly #answer: (sessionId: string, at: Instant) => Promise<void>
  #cancel: () => void = () => undefined
  #isStopped = false

  constructor(world: Pick<World, 'store' | 'clock'>, answer: (sessionId: string, at: Instant) => Promise<void>) {
    this.#world = world
    this.#answer = answer
  }

  /** One that has just rung in vain, because its session is in trouble, rings again a little later. */
  set(rungAt: Instant = Number.NEGATIVE_INFINITY): void {
    this.#cancel()
    if (this.#isStopped) return
    const due = this.#world.store.nextDue()
    if (due === undefined) return
    const at = due > rungAt ? due : rungAt + RING_AGAIN
    this.#cancel = this.#world.clock.ring(at, () => this.#ring())
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel()
  }

  #ring(): void {
    const at = this.#world.clock.now()
    const answered = this.#world.store.due(at).map(id => this.#answer(id, at))
    void Promise.all(answered).then(() => this.set(at))
  }
}
