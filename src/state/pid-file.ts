import fs from 'node:fs'
import { isDiskFull } from '../lib/errors.ts'

/** Every text has this length, line ends included, so that writing in place needs no new space. */
const LENGTH = 12

/** Writes a pid unless the file already names it. On a full disk a new file stays empty and names no process. */
export function writePid(file: string, pid: number): void {
  if (readPid(file) === pid) return
  const { O_WRONLY, O_CREAT, O_NOFOLLOW } = fs.constants
  try {
    const fd = fs.openSync(file, O_WRONLY | O_CREAT | O_NOFOLLOW, 0o600)
    try {
      fs.writeSync(fd, String(pid).padEnd(LENGTH, '\n'), 0)
    } finally {
      fs.closeSync(fd)
    }
  } catch (cause) {
    if (!isDiskFull(cause)) throw cause
  }
}

/** Returns undefined if the file names no process. */
export function readPid(file: string): number | undefined {
  try {
    const pid = Number(fs.readFileSync(file, 'latin1'))
    return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined
  } catch {
    return undefined // The file does not exist yet.
  }
}
