/** Splits off the complete lines of a buffer; the rest waits for the next call. Only \n ends a line. */
export function splitCompleteLines(bytes: Uint8Array): { lines: string[]; length: number } {
  const end = bytes.lastIndexOf(0x0a)
  if (end < 0) return { lines: [], length: 0 }
  const text = new TextDecoder().decode(bytes.subarray(0, end))
  return { lines: text.split('\n'), length: end + 1 }
}
