/** A part of a line, from one byte to another. */
export type Part = readonly [from: number, to: number]

/** What each match means; null for nothing. `matchAll` makes a copy of the expression first, which takes longer than the rest. */
export function matchesOf<T>(pattern: RegExp, line: string, meaning: (match: RegExpExecArray) => T | null): T[] {
  const found: T[] = []
  pattern.lastIndex = 0
  for (let match = pattern.exec(line); match !== null; match = pattern.exec(line)) {
    const part = meaning(match)
    if (part !== null) found.push(part)
  }
  return found
}
