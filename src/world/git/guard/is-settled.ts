import type { Stats } from 'node:fs'

/** Milliseconds. The kernel's clock for files ticks at least a hundred times a second. */
const FINE_TICK = 100
/** Some file systems keep whole seconds, and FAT every second one. */
const COARSE_TICK = 2_000

/**
 * Whether a change from now on shows in the times of a file or folder: one that is changed twice within one tick of the clock
 * looks the same. Nothing at all is settled.
 */
export function isSettled(stat: Pick<Stats, 'ctimeMs'> | undefined, now = Date.now()): boolean {
  if (stat === undefined) return true
  const tick = stat.ctimeMs % 1_000 === 0 ? COARSE_TICK : FINE_TICK
  return now - stat.ctimeMs > tick
}
