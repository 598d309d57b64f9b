import fs from 'node:fs'
import { type Database, openDatabase } from '../os/sqlite.ts'

/**
 * The lock of the one supervisor: an exclusive SQLite lock held for life. The kernel releases it when its holder dies,
 * however it dies. (Measured: no double winners in races after kill -9; pid files and sockets had some.)
 */
export class SupervisorLock {
  readonly #database: Database

  private constructor(database: Database) {
    this.#database = database
  }

  /** Undefined when somebody else holds it. */
  static tryTake(file: string): SupervisorLock | undefined {
    fs.closeSync(fs.openSync(file, 'a', 0o600))
    const database = openDatabase(file, { wait: 0 })
    try {
      database.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE;')
      return new SupervisorLock(database)
    } catch (cause) {
      database.close()
      if (cause instanceof Error && /locked|busy/i.test(cause.message)) return undefined
      throw cause
    }
  }

  /**
   * Takes the lock from a holder that cannot answer (suspended, or hung beyond patience) by putting a new lock file in
   * its place. The old holder keeps a lock that means nothing any more; the epoch keeps it from acting.
   */
  static seize(file: string): SupervisorLock | undefined {
    const gate = SupervisorLock.tryTake(`${file}.seize`)
    if (gate === undefined) return undefined
    try {
      fs.rmSync(file, { force: true })
      return SupervisorLock.tryTake(file)
    } finally {
      gate.release()
    }
  }

  release(): void {
    this.#database.close()
  }
}
