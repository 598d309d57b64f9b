import fs from 'node:fs'
import type { Duration } from '../lib/time.ts'
import type { Home } from '../state/home.ts'
import { readPid } from '../state/pid-file.ts'
import { isSuspended } from '../os/process/processes.ts'

/** A longer time between two looks is no evidence: the machine slept, or was too busy to let us look. */
const LONGEST_PAUSE: Duration = 2_000

/** The file whose time the supervisor in charge renews to show that it makes progress; it holds the pid. */
export const progressFile = (home: Home): string => `${home.lock}.pid`

/** Shows the others that this supervisor makes progress. It costs some microseconds and takes no room on the disk. */
export function showProgress(home: Home): void {
  try {
    const now = Date.now() / 1_000
    fs.utimesSync(progressFile(home), now, now)
  } catch {
    // The file could not be made on a full disk, or the disk is read-only: then a successor waits for its whole patience.
  }
}

/** Watches the supervisor that holds the lock and does not answer: it may be suspended, stuck, or only busy. */
export class HolderWatch {
  readonly #home: Home
  readonly #patience: Duration
  #seen: string
  #lookedAt = performance.now()
  /** For how long the holder has shown no progress. */
  #quietFor: Duration = 0
  /** For how long we have watched. */
  #watchedFor: Duration = 0

  constructor(home: Home, patience: Duration) {
    this.#home = home
    this.#patience = patience
    this.#seen = signOfLife(home)
  }

  get pid(): number | undefined {
    return readPid(progressFile(this.#home))
  }

  /** Whether nothing but another supervisor helps: the kernel says that the holder is suspended, or its patience is over. */
  isStuck(): boolean {
    this.#look()
    const { pid } = this
    return (pid !== undefined && isSuspended(pid)) || this.#quietFor > this.#patience
  }

  /** Whether the holder has shown progress, although it did not answer for the whole patience. */
  isBusy(): boolean {
    this.#look()
    return this.#watchedFor > this.#patience && this.#quietFor < this.#patience / 2
  }

  #look(): void {
    const now = performance.now() // It stands still while the machine sleeps, and nobody sets it.
    const passed = Math.min(now - this.#lookedAt, LONGEST_PAUSE)
    this.#lookedAt = now
    this.#watchedFor += passed
    const seen = signOfLife(this.#home)
    this.#quietFor = seen === this.#seen ? this.#quietFor + passed : 0
    this.#seen = seen
  }
}

/** A text that changes with the holder and with each progress that it shows. */
function signOfLife(home: Home): string {
  const stat = (file: string): fs.Stats | undefined => fs.statSync(file, { throwIfNoEntry: false })
  const pid = readPid(progressFile(home))
  return [stat(home.lock)?.ino, pid, pid !== undefined && isThere(pid), stat(progressFile(home))?.mtimeMs].join(' ')
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
