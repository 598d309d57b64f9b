import { setTimeout as pause } from 'node:timers/promises'
import fs from 'node:fs'
import { readPart } from '../../os/files/file-io.ts'

/** In milliseconds: long compared to a check of the file, short for a reader. */
const POLL_INTERVAL = 250
const LARGEST_CHUNK = 1_048_576

/** Parses a line of the supervisor's log for programs. A line without a time belongs to the line before. */
export function parseLogLine(line: string): { at: string | null; text: string } {
  const [, at, text] = /^(\d{4}-\d\d-\d\dT[\d:.]+Z) (.*)$/.exec(line) ?? []
  return at === undefined || text === undefined ? { at: null, text: line } : { at, text }
}

/**
 * Shows each line that is added after `offset`. If the log became shorter, somebody emptied it, and this reads it from
 * its start.
 */
export async function followLines(
  file: string,
  offset: number,
  show: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  let position = offset
  while (!signal.aborted) {
    const { size } = fs.statSync(file, { throwIfNoEntry: false }) ?? { size: 0 }
    if (size < position) position = 0
    const bytes = readPart(file, position, LARGEST_CHUNK)
    const end = bytes.lastIndexOf(10) + 1
    if (end > 0)
      for (const line of bytes
        .subarray(0, end - 1)
        .toString()
        .split('\n'))
        show(line)
    position += end
    if (end === 0) await pause(POLL_INTERVAL, undefined, { signal })
  }
}
