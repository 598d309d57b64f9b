/** The search for the end of a comment inside a paragraph covers at most this many lines. */
const MAX_COMMENT_LINES = 20

/** The visible text of a line, and its comments. */
export interface StrippedLine {
  /** The text has its original length: blanks replace the comments. */
  readonly text: string
  readonly comments: readonly string[]
  /** The line that ends a comment that begins here. */
  readonly endsIn: number | null
}

export interface LineStart {
  /** The index of the line, and the position in it at which the search starts. */
  readonly index: number
  readonly from: number
  /** No comment ends at or after this line. */
  readonly openTo: number
}

/**
 * Removes comments from a line. A comment at the start of a line may be of any length; a comment among words ends with
 * its paragraph, and before the next box. An unclosed comment is no comment: it would hide all that follows. The
 * function reads each character of the line only a few times, whatever the content: a list may come from a stranger.
 */
export function stripComments(lines: readonly string[], { index, from, openTo }: LineStart): StrippedLine {
  const text = lines[index] as string
  const comments: string[] = []
  const parts: string[] = []
  let shown = 0
  const hide = (at: number, to: number): void => {
    parts.push(text.slice(shown, at), ' '.repeat(to - at))
    shown = to
  }
  const result = (endsIn: number | null): StrippedLine => ({
    text: parts.join('') + text.slice(shown),
    comments,
    endsIn,
  })
  // Only the first comment can stand at the start: words, or nothing, come after it.
  let isFirst = true
  for (const spot = new CommentFinder(text, from); ; isFirst = false) {
    const at = spot.next()
    if (at < 0) return result(null)
    isFirst &&= /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*$/.test(text.slice(from, at))
    const end = text.indexOf('-->', at + 4)
    if (end < 0) {
      const endsIn = (isFirst ? findEndLine(lines, index, openTo) : null) ?? findEndInParagraph(lines, index)
      if (endsIn === null) return result(null) // The other comments in this line have no end either.
      hide(at, text.length)
      return result(endsIn)
    }
    comments.push(text.slice(at + 4, end).trim())
    hide(at, isFirst ? text.length : end + 3)
    if (isFirst) return result(null)
    spot.skip(end + 3)
  }
}

/** Finds the starts of comments, one after the other, outside of code. */
class CommentFinder {
  readonly #text: string
  /** The positions of backtick runs, by their length. */
  readonly #runs: Map<number, number[]>
  #at: number

  constructor(text: string, from: number) {
    this.#text = text
    this.#at = from
    this.#runs = text.includes('<!--', from) ? findBacktickRuns(text) : new Map()
  }

  skip(to: number): void {
    this.#at = to
  }

  /** Returns the next start, or -1. */
  next(): number {
    for (;;) {
      const found = this.#text.indexOf('<!--', this.#at)
      if (found < 0) return -1
      const tick = this.#text.indexOf('`', this.#at)
      if (tick < 0 || tick > found) {
        this.#at = found + 1
        return found
      }
      const length = runLength(this.#text, tick)
      this.#at = this.#endOfCode(tick, length) ?? tick + length
    }
  }

  /** Code ends with as many backticks as it began with. */
  #endOfCode(tick: number, length: number): number | null {
    const runs = this.#runs.get(length) ?? []
    while (runs[0] !== undefined && runs[0] <= tick) runs.shift()
    return runs[0] === undefined ? null : runs[0] + length
  }
}

function findBacktickRuns(text: string): Map<number, number[]> {
  const runs = new Map<number, number[]>()
  for (const { 0: run, index } of text.matchAll(/`+/g)) {
    const known = runs.get(run.length)
    if (known === undefined) runs.set(run.length, [index])
    else known.push(index)
  }
  return runs
}

function runLength(text: string, at: number): number {
  let end = at
  while (text[end] === '`') end++
  return end - at
}

function findEndLine(lines: readonly string[], index: number, before: number): number | null {
  for (let next = index + 1; next < before; next++) if (lines[next]?.includes('-->')) return next
  return null
}

function findEndInParagraph(lines: readonly string[], index: number): number | null {
  const near = lines.slice(index + 1, index + 1 + MAX_COMMENT_LINES)
  const end = near.findIndex(line => line.trim() === '' || /^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ xX]\]/.test(line))
  return findEndLine(lines, index, index + 1 + (end < 0 ? near.length : end))
}
