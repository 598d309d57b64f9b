import { matchesOf, type Part } from './part.ts'

/** A form in which secrets are written. */
export interface Form {
  /** Words of which one is always there: only then is it looked for. */
  readonly anchors: readonly string[]
  /** What is to be hidden in a line, whose characters are bytes. */
  readonly find: (line: string) => Part[]
}

/** One that an expression finds. Its first group says what it is, and stays. */
export function form(anchors: readonly string[], source: string, flags = 'g'): Form {
  const pattern = new RegExp(source, flags)
  return {
    anchors,
    find: line =>
      matchesOf(pattern, line, ({ 0: whole, 1: kept = '', index }) => [index + kept.length, index + whole.length]),
  }
}

/** Where a word begins: also after an escaped line end in a string, or a character in an address. */
export const START = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))`
