import fs from 'node:fs'
import type { Session } from '../core/session/session-state.ts'
import type { Duration, Instant } from '../lib/time.ts'
import { attemptFolder } from '../state/session-folder.ts'
import type { Home } from '../state/home.ts'
import { bootId, checkLiveness } from '../os/process/processes.ts'
import { measureUsage, readCpuTime } from '../os/process/usage.ts'
import type { SessionView, UsageView } from '../api/contract/responses.ts'

/** The statistics of an attempt that cost almost nothing to read. */
export interface HeartbeatStats {
  readonly pid: number | null
  readonly isAlive: boolean
  /**
   * Processor time of the whole control group, if there is one; otherwise of the process and the children that it has
   * waited for.
   */
  readonly cpu: Duration | null
  /** Bytes of output, and in `writtenAt` the time of the last one. */
  readonly written: number
  readonly writtenAt: Instant | null
}

/** Reads the statistics of an attempt. `group` is the control group of the attempt, if it has one. */
export function readHeartbeatStats(session: Session, home: Home, group: string | null): HeartbeatStats {
  const { spec } = session
  const { process: identity, exit, number: attempt } = session.attempt
  const isThisBoot = identity !== null && exit === null && identity.boot === bootId
  const cpu = isThisBoot ? readCpuTime(identity, group) : null
  const { stdout, stderr } = attemptFolder(home, spec.id, attempt)
  const stats = [stdout, stderr].map(file => fs.statSync(file, { throwIfNoEntry: false }))
  const written = stats.filter(stat => stat !== undefined).filter(stat => stat.size > 0)
  return {
    pid: identity?.pid ?? null,
    isAlive: cpu !== null || (isThisBoot && checkLiveness(identity) === 'alive'),
    cpu,
    written: written.reduce((sum, stat) => sum + stat.size, 0),
    writtenAt: written.length === 0 ? null : Math.floor(Math.max(...written.map(stat => stat.mtimeMs))),
  }
}

/** For a session with more processes than this, the usage covers only the first ones. */
const MAX_PROCESSES = 1_000

/** Returns the current usage of a session's live processes; null when none is alive. */
export async function readUsage({ pid }: SessionView): Promise<UsageView | null> {
  if (pid === null) return null
  const pids = listDescendants(pid)
  const { cpu, memory } = await measureUsage(pids)
  return memory === 0 ? null : { processes: pids.length, cpuSeconds: cpu / 1_000, memoryBytes: memory }
}

function listDescendants(root: number): number[] {
  const pids = [root]
  for (let at = 0; at < pids.length && pids.length < MAX_PROCESSES; at += 1)
    pids.push(...readChildPids(pids[at] as number))
  return pids
}

/** Linux lists the children of each thread; on other systems the usage covers only the session's own process. */
function readChildPids(pid: number): number[] {
  try {
    const threads = fs.readdirSync(`/proc/${pid}/task`)
    return threads.flatMap(thread => {
      const text = fs.readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1').trim()
      return text === '' ? [] : text.split(' ').map(Number)
    })
  } catch {
    return []
  }
}
