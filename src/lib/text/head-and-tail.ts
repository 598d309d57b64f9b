/**
 * Returns the start and the end of a text of any length, at most `each` characters of each. Callers truncate foreign
 * text before they match a regular expression against it: otherwise a line of many megabytes delays all sessions.
 */
export function headAndTail(text: string, each = 32_768): string {
  return text.length <= 2 * each ? text : `${text.slice(0, each)}…${text.slice(-each)}`
}
