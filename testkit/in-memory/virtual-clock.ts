import type { Duration, Instant } from '../../src/lib/time.ts'
import type { Clock } from '../../src/ports/clock.ts'

interface Timer {
  at: Instant
  readonly bell: () => void
}

/** Time that passes only when it is told to. Chance is a number somebody has set. */
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

  /** A lid that is closed for so long: time goes on, and nothing else does. */
  suspend(duration: Duration): void {
    this.#now += duration
    this.#suspendedFor += duration
  }

  random(): number {
    return this.dice
  }

  async yieldEventLoop(): Promise<void> {}

  schedule(at: Instant, bell: () => void): () => void {
    const alarm = { at, bell }
    this.#timers.add(alarm)
    return () => this.#timers.delete(alarm)
  }

  /** Goes on to the next alarm and lets all that follows from it happen. False when none is set. */
  async runNextTimer(): Promise<boolean> {
    await flushPromises()
    const alarm = this.#first()
    if (alarm === undefined) return false
    this.#timers.delete(alarm)
    this.#now = Math.max(this.#now, alarm.at)
    alarm.bell()
    await flushPromises()
    return true
  }

  /** Lets that much time pass, alarm by alarm. */
  async advance(duration: number): Promise<void> {
    const end = this.#now + duration
    await flushPromises()
    for (let alarm = this.#first(); alarm !== undefined && alarm.at <= end; alarm = this.#first())
      await this.runNextTimer()
    this.#now = end
  }

  /** Somebody sets the clock back. Alarms ring after as long as ever: timers count steadily. */
  setBack(duration: number): void {
    this.#now -= duration
    this.#suspendedFor -= duration // Time awake goes on as ever.
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

/** Lets everything happen that needs no time: one turn of the event loop ends only when no promise is left to resolve. */
export function flushPromises(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
