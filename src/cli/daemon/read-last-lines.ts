import fs from 'node:fs'

/** The last lines of a text file that may be long; no lines when it cannot be read. */
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
    return '' // Nothing was written yet, or not for us: there is nothing to show either way.
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
