import fs from 'node:fs'
import path from 'node:path'
import type { SessionId } from '../../core/session/session-id-and-name.ts'
import { parseMailboxEntry } from '../../state/session-folder.ts'

/**
 * Watches the one folder into which all shims write mailbox entries, so that one watcher serves any number of sessions.
 * An entry is an empty file that only wakes the supervisor; the record is in the attempt's folder. The supervisor
 * removes an entry after it has stored the record.
 */
export class Mailbox {
  readonly #folder: string
  readonly #watcher: fs.FSWatcher
  readonly #listener: (sessionId: SessionId) => void
  #isScheduled = false

  constructor(folder: string, listener: (sessionId: SessionId) => void) {
    this.#folder = folder
    this.#listener = listener
    this.#watcher = fs.watch(folder, () => this.#schedule())
    // The folder is gone; the supervisor then relies on its periodic check.
    this.#watcher.on('error', () => undefined)
    this.#schedule()
  }

  /**
   * Removes the entries of an attempt and of earlier ones: a shim may write an entry after the supervisor has already
   * stored its record and started the next attempt.
   */
  removeEntries(sessionId: SessionId, attempt: number): void {
    for (const entry of this.#listEntries()) {
      const sender = parseMailboxEntry(entry)
      if (sender?.sessionId === sessionId && sender.attempt <= attempt)
        fs.rmSync(path.join(this.#folder, entry), { force: true })
    }
  }

  close(): void {
    this.#watcher.close()
  }

  /** Reads the mailbox once for all changes within one turn of the event loop. */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      const sessions = new Set(this.#listEntries().flatMap(entry => parseMailboxEntry(entry)?.sessionId ?? []))
      for (const id of sessions) this.#listener(id)
    })
  }

  #listEntries(): string[] {
    return fs.existsSync(this.#folder) ? fs.readdirSync(this.#folder) : []
  }
}
