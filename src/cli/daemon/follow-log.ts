import { setTimeout as pause } from 'node:timers/promises'
import fs from 'node:fs'
import { readPart } from '../../os/files/file-io.ts'

/** Long against a look, short against a reader. */
const POLL_INTERVAL = 250
const LARGEST_CHUNK = 1_048_576

/** A line of the supervisor's log as programs read it. A line without a time belongs to the one before. */
export function parseLogLine(line: string): { at: string | null; text: string } {
  const [, at, text] = /^(\d{4}-\d\d-\d\dT[\d:.]+Z) (.*)$/.exec(line) ?? []
  return at === undefined || text === undefined ? { at: null, text: line } : { at, text }
}

/** Shows each line that is added after `offset`. A log that became shorter was emptied, and is read from its start. */
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
