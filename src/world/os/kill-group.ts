/** Kills a process, or sends it another signal, together with all that is in its group, which must be its own. */
export function killGroup(pid: number | undefined, signal: NodeJS.Signals = 'SIGKILL'): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // All of it has ended meanwhile.
  }
}
