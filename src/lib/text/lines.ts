/** Splits off the complete lines of a buffer; the rest stays for the next time. Only \n ends a line. */
export function splitCompleteLines(bytes: Uint8Array): { lines: string[]; length: number } {
  const end = bytes.lastIndexOf(0x0a)
  if (end < 0) return { lines: [], length: 0 }
  const text = new TextDecoder().decode(bytes.subarray(0, end))
  return { lines: text.split('\n'), length: end + 1 }
}

/**
 * The beginning and the end of a text that may be of any length, at most so many characters of each. Whoever matches an
 * expression against text of others cuts it first: else a line of many megabytes holds up all sessions.
 */
export function headAndTail(text: string, each = 32_768): string {
  return text.length <= 2 * each ? text : `${text.slice(0, each)}…${text.slice(-each)}`
}
