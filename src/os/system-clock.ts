import type { Clock } from '../ports/clock.ts'

/** setTimeout counts in 31 bits: the clock sets a later alarm again when this timeout fires. */
const MAX_TIMEOUT = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  random: () => Math.random(),
  yieldEventLoop: () => new Promise(resolve => setImmediate(resolve)),
  schedule: (at, callback) => {
    const delay = Math.min(Math.max(0, at - Date.now()), MAX_TIMEOUT)
    const timer = setTimeout(callback, delay)
    return () => clearTimeout(timer)
  },
}
