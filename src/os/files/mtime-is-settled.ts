import type { Stats } from 'node:fs'

/** Milliseconds. The kernel's clock for files ticks at least a hundred times a second. */
const FINE_TICK = 100
/** Milliseconds. Some file systems store whole seconds, and FAT every second one. */
const COARSE_TICK = 2_000

/**
 * Returns true if a change from now on will show in the times of a file or folder: after two changes within one tick of
 * the clock, the times look the same. A missing file is settled.
 */
export function isSettled(stat: Pick<Stats, 'ctimeMs'> | undefined, now = Date.now()): boolean {
  if (stat === undefined) return true
  const tick = stat.ctimeMs % 1_000 === 0 ? COARSE_TICK : FINE_TICK
  return now - stat.ctimeMs > tick
}
