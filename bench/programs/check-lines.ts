import fs from 'node:fs'
import { bytesOf, LINES_PER_CHUNK, NumberedLines } from './numbered-lines.ts'

/** Returns the fault of a file that should hold these numbered lines, byte for byte; null if there is none. */
export function faultIn(file: string, total: number, lineEnd: '\n' | '\r\n'): string | null {
  const expected = bytesOf(total) + (lineEnd === '\n' ? 0 : total)
  const { size } = fs.statSync(file)
  if (size !== expected) return `${size} bytes instead of ${expected}`
  const fd = fs.openSync(file, 'r')
  try {
    const lines = new NumberedLines(total)
    for (let first = 0, offset = 0; first < total; first += LINES_PER_CHUNK) {
      const chunk = withEnds(lines.render(first), lineEnd)
      const found = Buffer.alloc(chunk.length)
      fs.readSync(fd, found, 0, found.length, offset)
      if (!found.equals(chunk)) return `other bytes than were written behind byte ${offset}`
      offset += chunk.length
    }
    return null
  } finally {
    fs.closeSync(fd)
  }
}

/** A terminal turns each line feed into two characters. */
function withEnds(chunk: Buffer, lineEnd: string): Buffer {
  return lineEnd === '\n' ? chunk : Buffer.from(chunk.toString('latin1').replaceAll('\n', lineEnd), 'latin1')
}
