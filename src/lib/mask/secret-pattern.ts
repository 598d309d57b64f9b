/** A part of a line, from one byte to another. */
export type Range = readonly [from: number, to: number]

/** Maps each match; null drops it. `matchAll` first copies the expression, which takes longer than the rest. */
export function findMatches<T>(pattern: RegExp, line: string, meaning: (match: RegExpExecArray) => T | null): T[] {
  const found: T[] = []
  pattern.lastIndex = 0
  for (let match = pattern.exec(line); match !== null; match = pattern.exec(line)) {
    const part = meaning(match)
    if (part !== null) found.push(part)
  }
  return found
}

/** A notation of secrets. */
export interface SecretPattern {
  /** Words, one of which is in every match: the mask tries the pattern only after it has found one of them. */
  readonly anchors: readonly string[]
  /** Returns the ranges to hide in a line, whose characters are bytes. */
  readonly find: (line: string) => Range[]
}

/** Makes a pattern from a regular expression. The first group identifies the secret and stays visible. */
export function secretPattern(anchors: readonly string[], source: string, flags = 'g'): SecretPattern {
  const pattern = new RegExp(source, flags)
  return {
    anchors,
    find: line =>
      findMatches(pattern, line, ({ 0: whole, 1: kept = '', index }) => [index + kept.length, index + whole.length]),
  }
}

/** Matches the start of a word: also after an escaped line end in a string, or an escaped character in an address. */
export const WORD_START = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))`
