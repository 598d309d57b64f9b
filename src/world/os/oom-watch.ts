import fs from 'node:fs'

/** How old a count may be before it is taken anew, in milliseconds. */
const STALE_AFTER = 5_000

/**
 * Tells a program that the kernel ended for want of memory from one that somebody killed: the machine counts such ends. Only
 * Linux tells.
 */
export class OomWatch {
  #count = oomKills()
  #countedAt = performance.now()

  /** Called again and again while all is well. */
  note(): void {
    if (performance.now() - this.#countedAt < STALE_AFTER) return
    this.#count = oomKills()
    this.#countedAt = performance.now()
  }

  /** Whether the kernel has ended something since all was well. */
  hasStruck(): boolean {
    return oomKills() > this.#count
  }
}

function oomKills(): number {
  try {
    const [, count = '0'] = /^oom_kill (\d+)$/m.exec(fs.readFileSync('/proc/vmstat', 'latin1')) ?? []
    return Number(count)
  } catch {
    return 0 // No /proc.
  }
}
