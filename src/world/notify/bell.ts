import fs from 'node:fs'
import { Trouble } from '../../lib/trouble.ts'
import type { Driver } from './driver.ts'

/**
 * Rings where somebody may sit: at every terminal that is attached to a session, and at the one the work was asked for on,
 * if it is still there and still the user's. A bell is for now: when nobody is there, it is not rung later.
 */
export const bell: Driver<{ type: 'bell' }> = async (_, bulletin, means) => {
  const terminals = new Set([...(await means.terminals()), ...bulletin.terminals])
  const rung = [...terminals].filter(ring)
  if (rung.length === 0) throw new Trouble('ringing', 'nobody is at a terminal of yours', { mayHelpToRetry: false })
  return `rung at ${rung.join(', ')}`
}

/** One that is suspended by Ctrl-S or has its buffer full is not waited for. */
function ring(terminal: string): boolean {
  const { O_WRONLY, O_NOCTTY, O_NONBLOCK } = fs.constants
  let fd: number | undefined
  try {
    fd = fs.openSync(terminal, O_WRONLY | O_NOCTTY | O_NONBLOCK)
    const stat = fs.fstatSync(fd)
    if (!stat.isCharacterDevice() || stat.uid !== process.getuid?.()) return false
    return fs.writeSync(fd, '\u0007') === 1
  } catch {
    return false // It was closed, or belongs to somebody else by now.
  } finally {
    if (fd !== undefined) fs.closeSync(fd)
  }
}
