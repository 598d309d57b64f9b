import fs from 'node:fs'
import type { Session } from '../core/session.ts'
import type { Duration, Instant } from '../lib/time.ts'
import { attemptFolder } from '../world/os/folders.ts'
import type { Home } from '../world/os/home.ts'
import { bootId, lives } from '../world/os/processes.ts'
import { processorTime } from '../world/os/usage.ts'

/** What can be seen of an attempt for next to nothing. */
export interface Pulse {
  readonly pid: number | null
  readonly isAlive: boolean
  /** Processor time of all it started, where its control group tells; else of itself and of what it has waited for. */
  readonly cpu: Duration | null
  /** Bytes of output, and when the last of them came. */
  readonly written: number
  readonly writtenAt: Instant | null
}

/** `group`: the control group of its attempt, where there is one. */
export function pulseOf(session: Session, home: Home, group: string | null): Pulse {
  const { life, exit, spec, attempt } = session
  const isHere = life !== null && exit === null && life.boot === bootId
  const cpu = isHere ? processorTime(life, group) : null
  const { stdout, stderr } = attemptFolder(home, spec.id, attempt)
  const stats = [stdout, stderr].map(file => fs.statSync(file, { throwIfNoEntry: false }))
  const written = stats.filter(stat => stat !== undefined).filter(stat => stat.size > 0)
  return {
    pid: life?.pid ?? null,
    isAlive: cpu !== null || (isHere && lives(life) === 'alive'),
    cpu,
    written: written.reduce((sum, stat) => sum + stat.size, 0),
    writtenAt: written.length === 0 ? null : Math.floor(Math.max(...written.map(stat => stat.mtimeMs))),
  }
}
