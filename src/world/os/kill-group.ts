/** Kills a process with all that is in its group, which must be its own. */
export function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // All of it has ended meanwhile.
  }
}
