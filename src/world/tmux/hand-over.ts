import fs from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { AttemptRef } from '../../ports/work.ts'
import { type AttemptFolder, attemptFolder } from '../os/folders.ts'
import type { Home } from '../os/home.ts'
import { lives, type ProcessId, signalProcess } from '../os/processes.ts'
import { readClaim, readExit, readShim } from '../os/spool.ts'

/** Looks whether a shim that was called has taken the attempt: a shell needs less than a millisecond, a busy machine more. */
const LOOKS = [1, 1, 2, 2, 4, 4, 8, 8, 16, 16, 32, 64, 128, 256, 512]

/**
 * Calls the shim of the attempt before, which waits in its pane, to this one, which is laid down: that saves opening a pane,
 * and whoever looks through it stays. False when no shim came; another one may then be started, for the claim decides.
 */
export async function handOver(ref: AttemptRef, home: Home, program: string): Promise<boolean> {
  const shim = waitingShim(attemptFolder(home, ref.sessionId, ref.attempt - 1), program)
  if (shim === null || !signalProcess(shim, 'SIGUSR1')) return false
  const folder = attemptFolder(home, ref.sessionId, ref.attempt)
  for (const look of LOOKS) {
    await pause(look)
    const isGone = lives(shim) === 'dead'
    if (readClaim(folder) !== null) return true
    if (isGone) return false
  }
  return false
}

/** One that has concluded, is not being swept, and is known to hear the call. */
function waitingShim(folder: AttemptFolder, program: string): ProcessId | null {
  const shim = readShim(folder)
  return shim?.program === program && readExit(folder) !== null && !fs.existsSync(folder.swept) ? shim : null
}
