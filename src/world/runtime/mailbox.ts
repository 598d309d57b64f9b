import fs from 'node:fs'
import path from 'node:path'
import { parseMailboxEntry } from '../../state/session-folder.ts'

/**
 * One folder in which every shim rings, so that one watch serves any number of sessions. A letter is only a bell: the
 * record lies in the attempt's folder. It is taken away once what it announced is recorded.
 */
export class Mailbox {
  readonly #folder: string
  readonly #watcher: fs.FSWatcher
  readonly #listener: (sessionId: string) => void
  #isScheduled = false

  constructor(folder: string, listener: (sessionId: string) => void) {
    this.#folder = folder
    this.#listener = listener
    this.#watcher = fs.watch(folder, () => this.#schedule())
    this.#watcher.on('error', () => undefined) // The folder is gone; the reconcile goes on without bells.
    this.#schedule()
  }

  /**
   * Takes the letters of an attempt away, and those of earlier ones: a shim may ring when what it has to tell was seen already
   * and the next attempt has begun.
   */
  removeEntries(sessionId: string, attempt: number): void {
    for (const entry of this.#listEntries()) {
      const sender = parseMailboxEntry(entry)
      if (sender.sessionId === sessionId && sender.attempt <= attempt)
        fs.rmSync(path.join(this.#folder, entry), { force: true })
    }
  }

  close(): void {
    this.#watcher.close()
  }

  /** Many bells in one turn of the event loop are one walk to the mailbox. */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      const sessions = new Set(this.#listEntries().map(entry => parseMailboxEntry(entry).sessionId))
      for (const id of sessions) this.#listener(id)
    })
  }

  #listEntries(): string[] {
    return fs.existsSync(this.#folder) ? fs.readdirSync(this.#folder) : []
  }
}
