import fs from 'node:fs'

/**
 * Calls once, when this file has changed from the size it had; answers how to leave it. Whoever wants to hear of it again asks
 * again when they are ready: a program that writes without pause rings only then.
 */
export function whenGrown(file: string, size: number, tell: () => void): () => void {
  let watcher: fs.FSWatcher | undefined
  const leave = (): void => watcher?.close()
  const once = (): void => {
    leave()
    tell()
  }
  try {
    watcher = fs.watch(file, once)
    watcher.on('error', leave) // It was removed with its session: nothing more will be written.
  } catch {
    return leave // Not there, or no watches left: whoever asks looks by time as well.
  }
  if (fs.statSync(file, { throwIfNoEntry: false })?.size !== size) setImmediate(once)
  return leave
}
