import type { Duration, Instant } from '../../src/lib/time.ts'
import type { Clock } from '../../src/ports/clock.ts'

interface Timer {
  at: Instant
  readonly callback: () => void
}

/** A clock that advances only on request and returns a preset random number. */
export class VirtualClock implements Clock {
  dice = 0
  #now: Instant
  #suspendedFor: Duration = 0
  readonly #timers = new Set<Timer>()

  constructor(now: Instant = Date.UTC(2026, 0, 1)) {
    this.#now = now
  }

  now(): Instant {
    return this.#now
  }

  monotonic(): Duration {
    return this.#now - this.#suspendedFor
  }

  /** Simulates a closed lid for this long: time advances, but nothing runs. */
  suspend(duration: Duration): void {
    this.#now += duration
    this.#suspendedFor += duration
  }

  random(): number {
    return this.dice
  }

  async yieldEventLoop(): Promise<void> {}

  schedule(at: Instant, callback: () => void): () => void {
    const alarm = { at, callback }
    this.#timers.add(alarm)
    return () => this.#timers.delete(alarm)
  }

  /** Advances to the next timer and runs everything that follows from it. Returns false if no timer is set. */
  async runNextTimer(): Promise<boolean> {
    await flushPromises()
    const alarm = this.#first()
    if (alarm === undefined) return false
    this.#timers.delete(alarm)
    this.#now = Math.max(this.#now, alarm.at)
    alarm.callback()
    await flushPromises()
    return true
  }

  /** Advances time by this duration, timer by timer. */
  async advance(duration: number): Promise<void> {
    const end = this.#now + duration
    await flushPromises()
    for (let alarm = this.#first(); alarm !== undefined && alarm.at <= end; alarm = this.#first())
      await this.runNextTimer()
    this.#now = end
  }

  /** Sets the wall clock back. Timers fire after the same duration as before: they use a monotonic clock. */
  setBack(duration: number): void {
    this.#now -= duration
    this.#suspendedFor -= duration // The monotonic clock continues unchanged.
    const alarms = [...this.#timers]
    this.#timers.clear()
    for (const alarm of alarms) {
      alarm.at -= duration
      this.#timers.add(alarm)
    }
  }

  #first(): Timer | undefined {
    return [...this.#timers].reduce<Timer | undefined>(
      (first, alarm) => (first === undefined || alarm.at < first.at ? alarm : first),
      undefined,
    )
  }
}

/** Resolves after all pending promises: a turn of the event loop ends only when no promise is left to resolve. */
export function flushPromises(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
