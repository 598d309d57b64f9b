/** A part of a line, from one byte to another. */
export type Range = readonly [from: number, to: number]

/** What each match means; null for nothing. `matchAll` makes a copy of the expression first, which takes longer than the rest. */
export function findMatches<T>(pattern: RegExp, line: string, meaning: (match: RegExpExecArray) => T | null): T[] {
  const found: T[] = []
  pattern.lastIndex = 0
  for (let match = pattern.exec(line); match !== null; match = pattern.exec(line)) {
    const part = meaning(match)
    if (part !== null) found.push(part)
  }
  return found
}

/** A form in which secrets are written. */
export interface SecretPattern {
  /** Words of which one is always there: only then is it looked for. */
  readonly anchors: readonly string[]
  /** What is to be hidden in a line, whose characters are bytes. */
  readonly find: (line: string) => Range[]
}

/** One that an expression finds. Its first group says what it is, and stays. */
export function secretPattern(anchors: readonly string[], source: string, flags = 'g'): SecretPattern {
  const pattern = new RegExp(source, flags)
  return {
    anchors,
    find: line =>
      findMatches(pattern, line, ({ 0: whole, 1: kept = '', index }) => [index + kept.length, index + whole.length]),
  }
}

/** Where a word begins: also after an escaped line end in a string, or a character in an address. */
export const WORD_START = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))`
