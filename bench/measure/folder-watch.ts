import fs from 'node:fs'
import path from 'node:path'

/**
 * Reports the moment at which files appear and disappear in a folder, as `performance.now()` in the callback of
 * inotify.
 */
export class FolderWatch {
  readonly #folder: string
  readonly #watcher: fs.FSWatcher
  readonly #listeners = new Set<(name: string) => void>()

  constructor(folder: string) {
    this.#folder = folder
    this.#watcher = fs.watch(folder, (_, name) => {
      for (const listener of this.#listeners) listener(name ?? '')
    })
  }

  /** Resolves when the file is gone. A file that appears and disappears between two checks counts as gone. */
  gone(name: string, patience: number): Promise<number> {
    return this.#next(seen => seen === name && !this.#has(name), patience)
  }

  /** Resolves when any file appears that is not in `known`. */
  come(known: ReadonlySet<string>, patience: number): Promise<number> {
    return this.#next(seen => !known.has(seen) && this.#has(seen), patience)
  }

  close(): void {
    this.#watcher.close()
  }

  #has(name: string): boolean {
    return fs.existsSync(path.join(this.#folder, name))
  }

  #next(isIt: (name: string) => boolean, patience: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const limit = setTimeout(() => {
        this.#listeners.delete(listener)
        reject(new Error(`waited ${patience / 1000} s in vain for a change in ${path.basename(this.#folder)}`))
      }, patience)
      const listener = (name: string): void => {
        const at = performance.now()
        if (!isIt(name)) return
        clearTimeout(limit)
        this.#listeners.delete(listener)
        resolve(at)
      }
      this.#listeners.add(listener)
    })
  }
}
