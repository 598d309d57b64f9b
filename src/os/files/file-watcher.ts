import fs from 'node:fs'

/** Milliseconds after which the watcher checks again, even without an event of the file system. */
const POLL_INTERVAL = 1_000

/** Waits for the next change of any of these files or folders. Returns at once when aborted. */
export class FileWatcher {
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
      watcher.on('error', () => undefined) // The file was removed: the watcher polls from now on.
      this.#watchers.push(watcher)
    } catch {
      // The file does not exist yet, or the user has no inotify watches left: the watcher polls.
    }
  }

  async nextChange(signal: AbortSignal): Promise<void> {
    if (!this.#hasChanged && !signal.aborted) await this.#waitForChange(signal)
    this.#hasChanged = false
  }

  async #waitForChange(signal: AbortSignal): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const woken = new Promise<void>(resolve => {
      timer = setTimeout(resolve, POLL_INTERVAL)
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

/**
 * Calls back once when the size of the file differs from `size`. Returns a function that cancels. A caller that is
 * ready for the next change calls it again, so that a program which writes continuously wakes the caller only then.
 */
export function onceFileGrows(file: string, size: number, callback: () => void): () => void {
  let watcher: fs.FSWatcher | undefined
  const stop = (): void => watcher?.close()
  const fire = (): void => {
    stop()
    callback()
  }
  try {
    watcher = fs.watch(file, fire)
    watcher.on('error', stop) // The file was removed with its session: no more output follows.
  } catch {
    return stop // The file is missing, or the user has no inotify watches left: the caller polls as well.
  }
  if (fs.statSync(file, { throwIfNoEntry: false })?.size !== size) setImmediate(fire)
  return stop
}
