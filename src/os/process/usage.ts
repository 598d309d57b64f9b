import fs from 'node:fs'
import type { Duration } from '../../lib/time.ts'
import { type ProcessId, readCpuTicks } from './processes.ts'

/** Linux counts processor time in ticks of 10 ms, whatever its own clock does, and memory in pages of 4 KB on x64 and arm64. */
const TICK_MILLISECONDS: Duration = 10
const PAGE_SIZE = 4_096

export interface ProcessUsage {
  readonly cpu: Duration
  readonly memory: number
}

/**
 * What these processes have used together. Memory that they share with each other is counted once, by the largest share
 * among them: a program that forks does not seem to grow by it.
 */
export async function measureUsage(pids: readonly number[]): Promise<ProcessUsage> {
  const rows = fs.existsSync('/proc/self/stat') ? pids.flatMap(readProc) : await readPs(pids)
  const sum = (of: (row: UsageRow) => number): number => rows.reduce((total, row) => total + of(row), 0)
  const shared = Math.max(0, ...rows.map(row => row.shared))
  return { cpu: sum(row => row.cpu), memory: sum(row => row.resident - row.shared) + shared }
}

/**
 * Processor time used so far by everything in a control group, the dead included; without one by this process and those of its
 * children that it has waited for. Null when it is not alive, or that cannot be told.
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
    return null // It was given back.
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
    return [] // It has ended.
  }
}

// macOS: `time` is [hours:]minutes:seconds.hundredths, `rss` is in KB; what is shared is not told.
async function readPs(pids: readonly number[]): Promise<UsageRow[]> {
  if (pids.length === 0) return []
  const { run } = await import('../run.ts') // Only here: most commands need no process.
  const { stdout } = await run('ps', ['-o', 'time=,rss=', '-p', pids.join(',')], { timeout: 10_000 })
  return stdout.split('\n').flatMap(line => {
    const [time, kilobytes] = line.trim().split(/\s+/)
    if (time === undefined || kilobytes === undefined) return []
    const cpu = time.split(':').reduce((total, part) => total * 60 + Number(part), 0) * 1_000
    return [{ cpu, resident: Number(kilobytes) * 1_024, shared: 0 }]
  })
}
