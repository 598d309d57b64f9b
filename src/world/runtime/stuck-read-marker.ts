import fs from 'node:fs'
import type { Duration } from '../../lib/time.ts'

/** Far more than the longest line that is read as it should takes. A supervisor that is killed for other reasons is back sooner. */
const STUCK_AFTER: Duration = 2_000

/**
 * Reads something with a mark on disk that says so. `isStuck`: another supervisor has left its mark at the same place and did not
 * come back from there. Where no mark can be written it is read without one.
 */
export function withStuckReadMarker<T>(file: string, offset: number, read: (isStuck: boolean) => T): T {
  const isStuck = isLeftByStuckReader(file, offset)
  if (!isStuck) writeMarker(file, offset)
  try {
    return read(isStuck)
  } finally {
    // One that was found stays until the place is behind us: we may be killed before that is recorded.
    if (!isStuck) fs.rmSync(file, { force: true })
  }
}

function isLeftByStuckReader(file: string, offset: number): boolean {
  try {
    const [at, pid, since] = fs.readFileSync(file, 'latin1').split(' ').map(Number)
    return at === offset && pid !== process.pid && Date.now() - (since ?? 0) > STUCK_AFTER
  } catch {
    return false // Nobody has left one.
  }
}

function writeMarker(file: string, offset: number): void {
  try {
    fs.writeFileSync(file, `${offset} ${process.pid} ${Date.now()}`, { mode: 0o600 })
  } catch {
    // A full disk, or its folder was removed.
  }
}
