import fs from 'node:fs'
import { isDiskFull } from '../lib/errors.ts'

/** Every text is this long, line ends included, so that it is written in place, in the room of the one before. */
const LENGTH = 12

/** Writes a pid unless the file names it already. On a full disk a file that is new stays empty, which names nobody. */
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

/** Undefined when the file names nobody. */
export function readPid(file: string): number | undefined {
  try {
    const pid = Number(fs.readFileSync(file, 'latin1'))
    return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined
  } catch {
    return undefined // Nobody has written it yet.
  }
}
