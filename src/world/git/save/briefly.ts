const MOST = 5

/** A few sentences, and how many more there are. */
export function briefly(sentences: readonly string[]): string[] {
  if (sentences.length <= MOST) return [...sentences]
  return [...sentences.slice(0, MOST - 1), `and ${sentences.length - MOST + 1} more`]
}
