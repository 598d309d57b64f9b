import type { Duration, Instant } from '../lib/time.ts'

/** Provides time and randomness. The engine has no source of its own. */
export interface Clock {
  now(): Instant
  /**
   * Returns how long this machine has been awake since an arbitrary start. The value never jumps and does not advance
   * in standby.
   */
  monotonic(): Duration
  /** Returns a random number in [0, 1). */
  random(): number
  /**
   * Calls back once at this time or soon after; returns a function that cancels the call. The store also holds each
   * alarm, so a lost call loses nothing.
   */
  schedule(at: Instant, callback: () => void): () => void
  /** Gives the event loop a turn, so that one session with much output does not delay the others. */
  yieldEventLoop(): Promise<void>
}
