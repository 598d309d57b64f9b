import fs from 'node:fs'
import { steadyNow } from './agent/journal.ts'

/** Waits for moments at which a fault is most likely to do harm. */
export class EventWaiter {
  readonly #waiting = new Set<{ readonly names: readonly string[]; readonly tell: () => void }>()
  #watcher: fs.FSWatcher | undefined

  /** Watches the mailbox: shims write an entry at a start and at an exit, before the sweep. */
  watch(mailbox: string): void {
    this.#watcher = fs.watch(mailbox, (_, name) => {
      if (name?.endsWith('.exit')) this.emit('sweep')
      if (name?.endsWith('.started')) this.emit('started')
    })
    this.#watcher.on('error', () => undefined) // The run continues without these moments.
  }

  close(): void {
    this.#watcher?.close()
  }

  emit(name: string): void {
    for (const waiter of this.#waiting) if (waiter.names.includes(name)) waiter.tell()
  }

  /** Returns the milliseconds until one of them happens; undefined if none does in time. */
  wait(names: readonly string[], patience: number): Promise<number | undefined> {
    const begun = steadyNow()
    return new Promise(resolve => {
      const finish = (waited: number | undefined): void => {
        clearTimeout(timer)
        this.#waiting.delete(waiter)
        resolve(waited)
      }
      const waiter = { names, tell: () => finish(steadyNow() - begun) }
      const timer = setTimeout(() => finish(undefined), patience)
      this.#waiting.add(waiter)
    })
  }
}
