import type { ChildProcess } from 'node:child_process'

/** Resolves when a child process has ended. */
export function waitForExit(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise(resolve => {
    child.once('exit', () => resolve())
  })
}
