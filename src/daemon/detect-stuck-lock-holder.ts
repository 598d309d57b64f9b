import fs from 'node:fs'
import type { Duration } from '../lib/time.ts'
import type { Home } from '../state/home.ts'
import { readPid } from '../state/pid-file.ts'
import { progressFile } from '../state/supervisor-pid.ts'
import { isSuspended } from '../os/process/processes.ts'

/**
 * Milliseconds. A longer time between two checks is no evidence: the machine slept, or was too busy to run this
 * process.
 */
const LONGEST_PAUSE: Duration = 2_000

/**
 * Shows other processes that this supervisor makes progress. A call costs some microseconds and takes no disk space.
 */
export function showProgress(home: Home): void {
  try {
    const now = Date.now() / 1_000
    fs.utimesSync(progressFile(home), now, now)
  } catch {
    // The file is missing because the disk was full, or the disk is read-only: then a successor waits for the whole
    // patience.
  }
}

/** Watches a supervisor that holds the lock and does not answer: it may be suspended, stuck or busy. */
export class HolderWatch {
  readonly #home: Home
  readonly #patience: Duration
  #seen: string
  #lookedAt = performance.now()
  /** Time during which the holder has shown no progress. */
  #quietFor: Duration = 0
  /** Time for which this process has watched. */
  #watchedFor: Duration = 0

  constructor(home: Home, patience: Duration) {
    this.#home = home
    this.#patience = patience
    this.#seen = readProgressState(home)
  }

  get pid(): number | undefined {
    return readPid(progressFile(this.#home))
  }

  /**
   * Returns true when only a replacement helps: the kernel reports the holder as suspended, or the patience is over.
   */
  isStuck(): boolean {
    this.#look()
    const { pid } = this
    return (pid !== undefined && isSuspended(pid)) || this.#quietFor > this.#patience
  }

  /** Returns true when the holder has shown progress, although it did not answer for the whole patience. */
  isBusy(): boolean {
    this.#look()
    return this.#watchedFor > this.#patience && this.#quietFor < this.#patience / 2
  }

  #look(): void {
    const now = performance.now() // This clock pauses while the machine sleeps, and nobody can set it.
    const passed = Math.min(now - this.#lookedAt, LONGEST_PAUSE)
    this.#lookedAt = now
    this.#watchedFor += passed
    const seen = readProgressState(this.#home)
    this.#quietFor = seen === this.#seen ? this.#quietFor + passed : 0
    this.#seen = seen
  }
}

/** Returns a text that changes with the holder and with each sign of progress. */
function readProgressState(home: Home): string {
  const stat = (file: string): fs.Stats | undefined => fs.statSync(file, { throwIfNoEntry: false })
  const pid = readPid(progressFile(home))
  return [stat(home.lock)?.ino, pid, pid !== undefined && processExists(pid), stat(progressFile(home))?.mtimeMs].join(
    ' ',
  )
}

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
