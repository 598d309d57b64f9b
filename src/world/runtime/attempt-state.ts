import fs from 'node:fs'
import type { Exit, Mode } from '../../core/session/session.ts'
import type { AttemptState, ProcessStats } from '../../ports/runtime.ts'
import type { AttemptFolder } from '../../state/session-folder.ts'
import { bootId, checkLiveness } from '../../os/process/processes.ts'
import { readExit, readShim, readStarted } from '../../state/attempt-files.ts'
import { attemptTree, hasEmptyCgroup } from './end-attempt.ts'
import type { Instant } from '../../lib/time.ts'
import { findProcessTree } from '../../os/process/tree.ts'
import { measureUsage } from '../../os/process/usage.ts'

/** What an attempt's files and the machine tell about it, at this moment. */
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

/** The kernel ends what there is no memory for with the signal that anybody else would use. */
function describeOomKill(exit: Exit, oom: OomDetector): string | null {
  if (exit.kind !== 'signal' || exit.signal !== 'SIGKILL') return null
  return oom.hasKilledSinceSample() ? 'the kernel has just ended a process for want of it' : null
}

/** How an attempt's processes are doing, without asking them. */
export async function readProcessStats(folder: AttemptFolder, marker: string): Promise<ProcessStats> {
  const rows = await findProcessTree(attemptTree(folder, marker))
  const processes = rows.map(row => row.pid).sort((a, b) => a - b)
  return { written: readOutputSize(folder), processes, ...(await measureUsage(processes)) }
}

export function readOutputSize(folder: AttemptFolder): number {
  const files = [folder.stdout, folder.stderr].map(file => fs.statSync(file, { throwIfNoEntry: false }))
  return files.reduce((total, stat) => total + (stat?.size ?? 0), 0)
}

/** When it last wrote something, or was started. */
export function readLastActivity(folder: AttemptFolder): Instant | null {
  const written = [folder.stdout, folder.stderr].filter(
    file => (fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0,
  )
  const times = [...written, folder.started].map(file => fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs)
  const known = times.filter(time => time !== undefined)
  return known.length === 0 ? null : Math.floor(Math.max(...known))
}

/** How old a count may be before it is taken anew, in milliseconds. */
const SAMPLE_EVERY = 5_000

/**
 * Tells a program that the kernel ended for want of memory from one that somebody killed: the machine counts such ends. Only
 * Linux tells.
 */
export class OomDetector {
  #count = readOomKillCount()
  #countedAt = performance.now()

  /** Called again and again while all is well. */
  sample(): void {
    if (performance.now() - this.#countedAt < SAMPLE_EVERY) return
    this.#count = readOomKillCount()
    this.#countedAt = performance.now()
  }

  /** Whether the kernel has ended something since all was well. */
  hasKilledSinceSample(): boolean {
    return readOomKillCount() > this.#count
  }
}

function readOomKillCount(): number {
  try {
    const [, count = '0'] = /^oom_kill (\d+)$/m.exec(fs.readFileSync('/proc/vmstat', 'latin1')) ?? []
    return Number(count)
  } catch {
    return 0 // No /proc.
  }
}
