/** Signals that end this process unless it handles them. */
const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const

/** The leaders of the process groups that must not outlive this process. */
const leaders = new Set<number>()

/**
 * Ends a process group when a signal ends this process: neither Ctrl-C nor a signal to this process reaches another
 * group. Returns a function that ends the registration.
 */
export function endGroupOnSignal(leader: number): () => void {
  if (leaders.size === 0) for (const signal of SIGNALS) process.on(signal, onSignal)
  leaders.add(leader)
  return () => {
    if (leaders.delete(leader) && leaders.size === 0) removeListeners()
  }
}

function onSignal(signal: NodeJS.Signals): void {
  // Another listener decides how this process ends.
  if (process.listenerCount(signal) > 1) return
  for (const leader of leaders) {
    try {
      process.kill(-leader, 'SIGTERM')
    } catch {
      // The whole group has ended meanwhile.
    }
  }
  removeListeners()
  process.kill(process.pid, signal)
}

function removeListeners(): void {
  for (const signal of SIGNALS) process.off(signal, onSignal)
}
