/**
 * The beginning and the end of a text that may be of any length, at most so many characters of each. Whoever matches an
 * expression against text of others cuts it first: else a line of many megabytes holds up all sessions.
 */
export function endsOf(text: string, each = 32_768): string {
  return text.length <= 2 * each ? text : `${text.slice(0, each)}…${text.slice(-each)}`
}
