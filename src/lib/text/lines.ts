/** Splits off the complete lines of a buffer; the rest waits for the next call. Only \n ends a line. */
export function splitCompleteLines(bytes: Uint8Array): { lines: string[]; length: number } {
  const end = bytes.lastIndexOf(0x0a)
  if (end < 0) return { lines: [], length: 0 }
  const text = new TextDecoder().decode(bytes.subarray(0, end))
  return { lines: text.split('\n'), length: end + 1 }
}

/**
 * Returns the start and the end of a text of any length, at most `each` characters of each. Callers truncate foreign
 * text before they match a regular expression against it: otherwise a line of many megabytes delays all sessions.
 */
export function headAndTail(text: string, each = 32_768): string {
  return text.length <= 2 * each ? text : `${text.slice(0, each)}…${text.slice(-each)}`
}
