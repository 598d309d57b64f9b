import fs from 'node:fs'
import type { Duration } from '../../lib/time.ts'
import { type ProcessId, readCpuTicks } from './processes.ts'

/**
 * Linux counts processor time in ticks of 10 ms, independent of its own tick rate, and memory in pages of 4 KB on x64
 * and arm64.
 */
const TICK_MILLISECONDS: Duration = 10
const PAGE_SIZE = 4_096

export interface ProcessUsage {
  readonly cpu: Duration
  readonly memory: number
}

/**
 * Returns the usage of these processes together. Counts memory that they share once, by the largest share among them,
 * so that a fork does not look like growth.
 */
export async function measureUsage(pids: readonly number[]): Promise<ProcessUsage> {
  const rows = fs.existsSync('/proc/self/stat') ? pids.flatMap(readProc) : await readPs(pids)
  const sum = (of: (row: UsageRow) => number): number => rows.reduce((total, row) => total + of(row), 0)
  const shared = Math.max(0, ...rows.map(row => row.shared))
  return { cpu: sum(row => row.cpu), memory: sum(row => row.resident - row.shared) + shared }
}

/**
 * Returns the processor time of all processes in a control group, including ended ones; without a group, of this
 * process and the children it has waited for. Null if the process is dead or the time is unknown.
 */
export function readCpuTime(process: ProcessId, group: string | null): Duration | null {
  const ticks = readCpuTicks(process)
  return ticks === null ? null : (readCgroupCpuTime(group) ?? ticks * TICK_MILLISECONDS)
}

function readCgroupCpuTime(group: string | null): Duration | null {
  if (group === null) return null
  try {
    const used = /^usage_usec (\d+)$/m.exec(fs.readFileSync(`${group}/cpu.stat`, 'latin1'))?.[1]
    return used === undefined ? null : Number(used) / 1_000
  } catch {
    return null // The group was removed.
  }
}

interface UsageRow {
  readonly cpu: Duration
  readonly resident: number
  readonly shared: number
}

function readProc(pid: number): UsageRow[] {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [, resident = 0, shared = 0] = fs.readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ').map(Number)
    const ticks = Number(fields[11]) + Number(fields[12])
    return [{ cpu: ticks * TICK_MILLISECONDS, resident: resident * PAGE_SIZE, shared: shared * PAGE_SIZE }]
  } catch {
    return [] // The process has ended.
  }
}

// macOS: `time` is [hours:]minutes:seconds.hundredths, `rss` is in KB; ps does not show shared memory.
async function readPs(pids: readonly number[]): Promise<UsageRow[]> {
  if (pids.length === 0) return []
  const { run } = await import('../run.ts') // Imported here, because most commands start no process.
  const { stdout } = await run('ps', ['-o', 'time=,rss=', '-p', pids.join(',')], { timeout: 10_000 })
  return stdout.split('\n').flatMap(line => {
    const [time, kilobytes] = line.trim().split(/\s+/)
    if (time === undefined || kilobytes === undefined) return []
    const cpu = time.split(':').reduce((total, part) => total * 60 + Number(part), 0) * 1_000
    return [{ cpu, resident: Number(kilobytes) * 1_024, shared: 0 }]
  })
}
