import fs from 'node:fs'
import os from 'node:os'
import { checkLiveness, identifyProcess } from '../os/process/processes.ts'
import type { Home } from './home.ts'
import { readPid } from './pid-file.ts'

/** Returns the file whose mtime the active supervisor renews to show progress. The file holds its pid. */
export const progressFile = (home: Home): string => `${home.lock}.pid`

/**
 * Returns false if no process has the pid of the last supervisor, or the file is older than this boot. Another process
 * may have the pid by now: then this returns true.
 */
export function isSupervisorAlive(home: Home): boolean {
  const pid = readPid(progressFile(home))
  const renewedAt = fs.statSync(progressFile(home), { throwIfNoEntry: false })?.mtimeMs ?? 0
  return pid !== undefined && renewedAt >= Date.now() - os.uptime() * 1_000 && isPidAlive(pid)
}

/** A zombie is dead: only its exit status remains. */
function isPidAlive(pid: number): boolean {
  const identity = identifyProcess(pid)
  return identity !== undefined && checkLiveness(identity) === 'alive'
}
