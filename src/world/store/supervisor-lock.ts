import fs from 'node:fs'
import { KernelLock } from '../../os/kernel-lock.ts'

/** The lock of the one supervisor, held for life. */
export class SupervisorLock {
  readonly #lock: KernelLock

  private constructor(lock: KernelLock) {
    this.#lock = lock
  }

  /** Undefined when somebody else holds it. */
  static tryAcquire(file: string): SupervisorLock | undefined {
    const lock = KernelLock.tryAcquire(file)
    return lock === undefined ? undefined : new SupervisorLock(lock)
  }

  /**
   * Takes the lock from a holder that cannot answer (suspended, or hung beyond patience) by putting a new lock file in
   * its place. The old holder keeps a lock that means nothing any more; the epoch keeps it from acting. `isStuck` is asked while
   * nobody else can seize it. Undefined when it says no, or when somebody else was faster.
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
