import fs from 'node:fs'

/** Returns the last lines of a text file that may be long; no lines when it is unreadable. */
export function readLastLines(file: string, lines: number): string[] {
  const text = readLastBytes(file, Math.min(lines * 1000, 16_000_000))
  const all = text.trimEnd().split('\n')
  return text.trim() === '' || lines < 1 ? [] : all.slice(-lines)
}

function readLastBytes(file: string, limit: number): string {
  let handle: number
  try {
    handle = fs.openSync(file, 'r')
  } catch {
    return '' // The file does not exist or is unreadable: there are no lines to show.
  }
  try {
    const { size } = fs.fstatSync(handle)
    const bytes = Buffer.alloc(Math.min(size, limit))
    fs.readSync(handle, bytes, 0, bytes.length, size - bytes.length)
    return bytes.toString()
  } finally {
    fs.closeSync(handle)
  }
}
