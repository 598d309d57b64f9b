import fs from 'node:fs'
import { readable } from '../../lib/terminal-text.ts'

/** How many of the recording's last lines must be found again in the terminal's memory to know where the gap begins. */
const ANCHOR_LINES = 3
const TAIL_BYTES = 65_536

/** The lines the terminal remembers that the recording does not have, after the recorder had died. */
export function missingLines(recording: string, history: readonly string[]): string[] {
  const known = recordedTail(recording)
  if (known.length === 0) return history.filter(line => line.trim() !== '')
  const anchor = known.slice(-ANCHOR_LINES)
  for (let end = history.length; end >= anchor.length; end--) {
    const isHere = anchor.every((line, i) => history[end - anchor.length + i]?.trimEnd() === line)
    if (isHere) return history.slice(end)
  }
  return [...history]
}

function recordedTail(recording: string): string[] {
  const size = fs.statSync(recording).size
  const fd = fs.openSync(recording, 'r')
  try {
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES))
    fs.readSync(fd, bytes, 0, bytes.length, size - bytes.length)
    const lines = readable(bytes.toString(), { colour: false }).split('\n')
    return lines.map(line => line.trimEnd()).filter(line => line !== '')
  } finally {
    fs.closeSync(fd)
  }
}
