import type { Clock } from '../../ports/clock.ts'

/** setTimeout counts in 31 bits: a farther alarm is set again when this one has rung. */
const FARTHEST = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  awake: () => performance.now(),
  chance: () => Math.random(),
  breathe: () => new Promise(resolve => setImmediate(resolve)),
  ring: (at, bell) => {
    const delay = Math.min(Math.max(0, at - Date.now()), FARTHEST)
    const timer = setTimeout(bell, delay)
    return () => clearTimeout(timer)
  },
}
