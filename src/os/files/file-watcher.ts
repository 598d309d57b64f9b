import fs from 'node:fs'

/** However the file system tells of changes, we look again after this long, in milliseconds. */
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
      watcher.on('error', () => undefined) // It was removed: we look again by time.
      this.#watchers.push(watcher)
    } catch {
      // Not there yet, or no watches left: we look again by time.
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
 * Calls once, when this file has changed from the size it had; answers how to leave it. Whoever wants to hear of it again asks
 * again when they are ready: a program that writes without pause rings only then.
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
    watcher.on('error', stop) // It was removed with its session: nothing more will be written.
  } catch {
    return stop // Not there, or no watches left: whoever asks looks by time as well.
  }
  if (fs.statSync(file, { throwIfNoEntry: false })?.size !== size) setImmediate(fire)
  return stop
}
