import fs from 'node:fs'
import { readable } from '../../lib/terminal-text.ts'

/** How many of the recording's last lines must be found again in the terminal's memory to know where the gap begins. */
const ANCHOR_LINES = 3
const TAIL_BYTES = 65_536

/** What the terminal remembers and the recording does not have, after the recorder had died, to be written behind it. */
export function missingText(recording: string, history: readonly string[]): string {
  const { whole, torn } = recordedTail(recording)
  const rest = after(whole.slice(-ANCHOR_LINES), history) ?? history
  const [first, ...others] = rest
  if (first === undefined || torn === '') return lines(rest)
  // The recorder may have died in the middle of a line; or the line has no end yet.
  if (!first.startsWith(torn.trimEnd())) return `\r\n${lines(rest)}`
  const end = first.slice(torn.length)
  return end === '' && others.length === 0 ? '' : lines([end, ...others])
}

function lines(texts: readonly string[]): string {
  return texts.map(text => `${text}\r\n`).join('')
}

/** What follows the last place where these lines stand; undefined when they stand nowhere. */
function after(anchor: readonly string[], history: readonly string[]): readonly string[] | undefined {
  if (anchor.length === 0) return history.filter(line => line.trim() !== '')
  for (let end = history.length; end >= anchor.length; end--) {
    const isHere = anchor.every((line, i) => history[end - anchor.length + i]?.trimEnd() === line)
    if (isHere) return history.slice(end)
  }
  return undefined
}

/** The last lines that are not empty, and the beginning of one that has no end. */
function recordedTail(recording: string): { whole: string[]; torn: string } {
  const size = fs.statSync(recording).size
  const fd = fs.openSync(recording, 'r')
  try {
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES))
    fs.readSync(fd, bytes, 0, bytes.length, size - bytes.length)
    const texts = readable(bytes.toString(), { colour: false }).split('\n')
    const torn = texts.pop() ?? ''
    return { whole: texts.map(text => text.trimEnd()).filter(text => text !== ''), torn }
  } finally {
    fs.closeSync(fd)
  }
}
