import fs from 'node:fs'
import { KernelLock } from '../../os/kernel-lock.ts'

/** The lock that a supervisor holds for its whole life. */
export class SupervisorLock {
  readonly #lock: KernelLock

  private constructor(lock: KernelLock) {
    this.#lock = lock
  }

  /** Returns undefined if another process holds the lock. */
  static tryAcquire(file: string): SupervisorLock | undefined {
    const lock = KernelLock.tryAcquire(file)
    return lock === undefined ? undefined : new SupervisorLock(lock)
  }

  /**
   * Takes the lock from a holder that cannot answer (suspended, or hung for too long): replaces the lock file with a
   * new one. The old holder keeps a lock without meaning, and the epoch prevents it from acting. Calls `isStuck` while
   * no other process can seize the lock. Returns undefined if it returns false, or if another process was faster.
   */
  static seize(file: string, isStuck: () => boolean): SupervisorLock | undefined {
    const seizeLock = KernelLock.tryAcquire(`${file}.seize`)
    if (seizeLock === undefined) return undefined
    try {
      if (!isStuck()) return undefined
      fs.rmSync(file, { force: true })
      return SupervisorLock.tryAcquire(file)
    } finally {
      seizeLock.release()
    }
  }

  release(): void {
    this.#lock.release()
  }
}
