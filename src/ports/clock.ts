import type { Duration, Instant } from '../lib/time.ts'

/** Time and chance, so that the engine has neither of its own. */
export interface Clock {
  now(): Instant
  /** How long this machine has been awake, from some beginning on: it never jumps, and stands still while a lid is closed. */
  monotonic(): Duration
  /** A dice roll in [0, 1). */
  random(): number
  /** Calls back once at (or soon after) that time; returns how to cancel it. Alarms are also stored: this is only the bell. */
  schedule(at: Instant, callback: () => void): () => void
  /** Lets everything else have its turn, so that one session with much to read does not keep the others waiting. */
  yieldEventLoop(): Promise<void>
}
