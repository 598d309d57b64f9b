import fs from 'node:fs'
import { LINES_PER_CHUNK, NumberedLines } from './numbered-lines.ts'

/** Writes numbered lines to stdout at full speed, and the milliseconds that took into a file. */
export function talk([count = '0', report = '']: readonly string[]): void {
  const total = Number(count)
  const lines = new NumberedLines(total)
  const begun = performance.now()
  for (let first = 0; first < total; first += LINES_PER_CHUNK) writeAll(lines.render(first))
  const took = performance.now() - begun
  fs.writeFileSync(`${report}.draft`, String(took))
  fs.renameSync(`${report}.draft`, report)
}

function writeAll(chunk: Buffer): void {
  for (let done = 0; done < chunk.length; ) done += fs.writeSync(1, chunk, done)
}
