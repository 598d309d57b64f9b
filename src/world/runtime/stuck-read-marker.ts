import fs from 'node:fs'
import type { Duration } from '../../lib/time.ts'

/** Any valid line takes far less than 2 s to read. A supervisor that is killed for another reason restarts sooner. */
const STUCK_AFTER: Duration = 2_000

/**
 * Writes a marker file, runs `read` and removes the marker. `isStuck`: an earlier supervisor left its marker at the
 * same offset and died there. If the marker cannot be written, `read` runs without one.
 */
export function withStuckReadMarker<T>(file: string, offset: number, read: (isStuck: boolean) => T): T {
  const isStuck = isLeftByStuckReader(file, offset)
  if (!isStuck) writeMarker(file, offset)
  try {
    return read(isStuck)
  } finally {
    // A marker of an earlier supervisor stays until the offset moves on: this supervisor may die before it records
    // that.
    if (!isStuck) fs.rmSync(file, { force: true })
  }
}

function isLeftByStuckReader(file: string, offset: number): boolean {
  try {
    const [at, pid, since] = fs.readFileSync(file, 'latin1').split(' ').map(Number)
    return at === offset && pid !== process.pid && Date.now() - (since ?? 0) > STUCK_AFTER
  } catch {
    return false // No marker exists.
  }
}

function writeMarker(file: string, offset: number): void {
  try {
    fs.writeFileSync(file, `${offset} ${process.pid} ${Date.now()}`, { mode: 0o600 })
  } catch {
    // The disk is full, or somebody removed the folder.
  }
}
