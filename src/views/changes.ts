import fs from 'node:fs'

/** However the file system tells of changes, we look again after this long, in milliseconds. */
const LOOK_AGAIN = 1_000

/** Waits for the next change of any of these files or folders. Returns at once when aborted. */
export class Changes {
  readonly #watchers: fs.FSWatcher[] = []
  #hasChanged = false
  #wake: () => void = () => undefined

  constructor(files: readonly string[]) {
    for (const file of files) this.watch(file)
  }

  watch(file: string): void {
    try {
      const watcher = fs.watch(file, () => {
        this.#hasChanged = true
        this.#wake()
      })
      watcher.on('error', () => undefined) // It was removed: we look again by time.
      this.#watchers.push(watcher)
    } catch {
      // Not there yet, or no watches left: we look again by time.
    }
  }

  async next(signal: AbortSignal): Promise<void> {
    if (!this.#hasChanged && !signal.aborted) await this.#sleep(signal)
    this.#hasChanged = false
  }

  async #sleep(signal: AbortSignal): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const woken = new Promise<void>(resolve => {
      timer = setTimeout(resolve, LOOK_AGAIN)
      this.#wake = resolve
      signal.addEventListener('abort', this.#wake, { once: true })
    })
    await woken
    clearTimeout(timer)
    signal.removeEventListener('abort', this.#wake)
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.close()
  }
}
