import fs from 'node:fs'
import { type Database, openDatabase } from './sqlite.ts'

/**
 * A lock that the kernel releases when its holder dies in any way: an exclusive SQLite lock. (Measured: no double
 * winners in races after kill -9; pid files and sockets had some.) A process loses its lock on a file as soon as it
 * closes any descriptor of that file, so each process holds a lock at most once and no other code in it may read the
 * file.
 */
export class KernelLock {
  readonly #database: Database

  private constructor(database: Database) {
    this.#database = database
  }

  /** Returns undefined if another process holds the lock. */
  static tryAcquire(file: string): KernelLock | undefined {
    prepareLockFile(file)
    const database = openDatabase(file, { wait: 0 })
    try {
      // A journal in a file would need space, which a full disk does not have.
      database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;')
      return new KernelLock(database)
    } catch (cause) {
      database.close()
      if (cause instanceof Error && /locked|busy/i.test(cause.message)) return undefined
      throw cause
    }
  }

  release(): void {
    this.#database.close()
  }
}

/**
 * Checks the lock file; nobody ever writes to it. In a folder where others can write, a link in its place would make
 * SQLite open another file, and a journal beside it would make SQLite overwrite that file.
 */
function prepareLockFile(file: string): void {
  const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = fs.constants
  const fd = fs.openSync(file, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600)
  try {
    const stat = fs.fstatSync(fd)
    if (!stat.isFile() || stat.nlink > 1) throw new Error(`${file} is no lock of ours: remove it`)
  } finally {
    fs.closeSync(fd)
  }
  for (const end of ['-journal', '-wal', '-shm'])
    if (fs.lstatSync(`${file}${end}`, { throwIfNoEntry: false }) !== undefined)
      fs.rmSync(`${file}${end}`, { force: true })
}
