import fs from 'node:fs'
import type { Exit } from '../../core/session/attempt.ts'
import type { Mode } from '../../core/session/session-state.ts'
import type { AttemptState, ProcessStats } from '../../ports/runtime.ts'
import type { AttemptFolder } from '../../state/session-folder.ts'
import { hasChildCgroups, readCgroupMembers } from '../../os/cgroup.ts'
import { bootId, checkLiveness, readParentPid } from '../../os/process/processes.ts'
import { readExit, readShim, readStarted, type ShimRecord } from '../../state/shim-records.ts'
import { attemptTree } from './end-attempt.ts'
import type { Instant } from '../../lib/time.ts'
import { findProcessTree } from '../../os/process/tree.ts'
import { measureUsage } from '../../os/process/usage.ts'

/** Reads the state of an attempt from its files and from the process table. */
export function readAttemptState(folder: AttemptFolder, mode: Mode, oom: OomDetector): AttemptState {
  const record = readExit(folder)
  const exit = record?.kind === 'ended' ? record.exit : null
  const claim = readShim(folder)
  const life = readStarted(folder)
  const isEarlierBoot = life !== null && life.boot !== bootId
  return {
    isClaimed: claim !== null,
    openedAt: claim === null ? (fs.statSync(folder.launch, { throwIfNoEntry: false })?.mtimeMs ?? null) : null,
    refusal: record?.kind === 'refused' ? record.reason : null,
    life,
    exit,
    memory: exit === null ? null : describeOomKill(exit, oom),
    process: life === null ? 'unknown' : isEarlierBoot ? 'dead' : checkLiveness(life),
    shim: claim === null ? 'unknown' : isEarlierBoot ? 'dead' : checkLiveness(claim),
    isTreeEmpty: mode === 'headless' && exit !== null && claim !== null && hasEmptyCgroup(claim),
  }
}

/**
 * Returns true if the control group of an ended program holds only the shim and the shim's direct children, such as its
 * sleep.
 */
function hasEmptyCgroup(shim: ShimRecord): boolean {
  if (shim.group === null || hasChildCgroups(shim.group)) return false
  const others = [...readCgroupMembers(shim.group)].filter(pid => pid !== shim.pid)
  return others.every(pid => (readParentPid(pid) ?? shim.pid) === shim.pid)
}

/** Returns why an exit looks like an out-of-memory kill, or null. The kernel uses SIGKILL, as a user would. */
function describeOomKill(exit: Exit, oom: OomDetector): string | null {
  if (exit.kind !== 'signal' || exit.signal !== 'SIGKILL') return null
  return oom.hasKilledSinceSample() ? 'the kernel has just ended a process because there was too little' : null
}

/** Measures the processes of an attempt without a request to them. */
export async function readProcessStats(folder: AttemptFolder, marker: string): Promise<ProcessStats> {
  const rows = await findProcessTree(attemptTree(folder, marker))
  const processes = rows.map(row => row.pid).sort((a, b) => a - b)
  return { written: readOutputSize(folder), processes, ...(await measureUsage(processes)) }
}

export function readOutputSize(folder: AttemptFolder): number {
  const files = [folder.stdout, folder.stderr].map(file => fs.statSync(file, { throwIfNoEntry: false }))
  return files.reduce((total, stat) => total + (stat?.size ?? 0), 0)
}

/** Returns the time of the attempt's last output, or of its start; null when its files show neither. */
export function readLastActivity(folder: AttemptFolder): Instant | null {
  const written = [folder.stdout, folder.stderr].filter(
    file => (fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0,
  )
  const times = [...written, folder.started].map(file => fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs)
  const known = times.filter(time => time !== undefined)
  return known.length === 0 ? null : Math.floor(Math.max(...known))
}

/** Maximum age of the stored count, in milliseconds. */
const SAMPLE_EVERY = 5_000

/**
 * Distinguishes an out-of-memory kill from another SIGKILL: Linux counts such kills in /proc/vmstat. Other systems do
 * not.
 */
export class OomDetector {
  #count = readOomKillCount()
  #countedAt = performance.now()

  /** Renews the stored count. The runtime calls this often while no attempt has just ended. */
  sample(): void {
    if (performance.now() - this.#countedAt < SAMPLE_EVERY) return
    this.#count = readOomKillCount()
    this.#countedAt = performance.now()
  }

  /** Returns true if the kernel has killed a process for lack of memory since the last sample. */
  hasKilledSinceSample(): boolean {
    return readOomKillCount() > this.#count
  }
}

function readOomKillCount(): number {
  try {
    const [, count = '0'] = /^oom_kill (\d+)$/m.exec(fs.readFileSync('/proc/vmstat', 'latin1')) ?? []
    return Number(count)
  } catch {
    return 0 // This system has no /proc.
  }
}
