import type { Duration, Instant } from '../../lib/time.ts'
import type { Clock } from '../../ports/clock.ts'

interface Alarm {
  at: Instant
  readonly bell: () => void
}

/** Time that passes only when it is told to. Chance is a number somebody has set. */
export class VirtualClock implements Clock {
  dice = 0
  #now: Instant
  #asleep: Duration = 0
  readonly #alarms = new Set<Alarm>()

  constructor(now: Instant = Date.UTC(2026, 0, 1)) {
    this.#now = now
  }

  now(): Instant {
    return this.#now
  }

  awake(): Duration {
    return this.#now - this.#asleep
  }

  /** A lid that is closed for so long: time goes on, and nothing else does. */
  sleep(duration: Duration): void {
    this.#now += duration
    this.#asleep += duration
  }

  chance(): number {
    return this.dice
  }

  async breathe(): Promise<void> {}

  ring(at: Instant, bell: () => void): () => void {
    const alarm = { at, bell }
    this.#alarms.add(alarm)
    return () => this.#alarms.delete(alarm)
  }

  /** Goes on to the next alarm and lets all that follows from it happen. False when none is set. */
  async next(): Promise<boolean> {
    await settle()
    const alarm = this.#first()
    if (alarm === undefined) return false
    this.#alarms.delete(alarm)
    this.#now = Math.max(this.#now, alarm.at)
    alarm.bell()
    await settle()
    return true
  }

  /** Lets that much time pass, alarm by alarm. */
  async pass(duration: number): Promise<void> {
    const end = this.#now + duration
    await settle()
    for (let alarm = this.#first(); alarm !== undefined && alarm.at <= end; alarm = this.#first()) await this.next()
    this.#now = end
  }

  /** Somebody sets the clock back. Alarms ring after as long as ever: timers count steadily. */
  setBack(duration: number): void {
    this.#now -= duration
    this.#asleep -= duration // Time awake goes on as ever.
    const alarms = [...this.#alarms]
    this.#alarms.clear()
    for (const alarm of alarms) {
      alarm.at -= duration
      this.#alarms.add(alarm)
    }
  }

  #first(): Alarm | undefined {
    return [...this.#alarms].reduce<Alarm | undefined>(
      (first, alarm) => (first === undefined || alarm.at < first.at ? alarm : first),
      undefined,
    )
  }
}

/** Lets everything happen that needs no time: one turn of the event loop ends only when no promise is left to resolve. */
export function settle(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
