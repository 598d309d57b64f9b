/** A comment that is not closed where it begins is looked after no further than this many lines, unless it stands alone. */
const MAX_COMMENT_LINES = 20

/** What a person reads of a line, and what comments say there. */
export interface StrippedLine {
  /** Of the same length: comments are blanks. */
  readonly text: string
  readonly comments: readonly string[]
  /** The line whose text ends what was begun here. */
  readonly endsIn: number | null
}

export interface LineStart {
  /** Of the line, and where in it the look begins. */
  readonly index: number
  readonly from: number
  /** From this line on no comment is closed any more. */
  readonly openTo: number
}

/**
 * Takes comments off a line. One that begins a line may reach as far as it likes; one among words ends with its paragraph, and
 * before the next box. What is never closed is no comment: it would hide all that follows. Each character of the line is looked
 * at a few times at most, whatever it is made of: a list may come from a stranger.
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
  // Only the first one can stand at the beginning: behind it there are words, or nothing.
  let isFirst = true
  for (const spot = new CommentFinder(text, from); ; isFirst = false) {
    const at = spot.next()
    if (at < 0) return result(null)
    isFirst &&= /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*$/.test(text.slice(from, at))
    const end = text.indexOf('-->', at + 4)
    if (end < 0) {
      const endsIn = (isFirst ? findEndLine(lines, index, openTo) : null) ?? findEndInParagraph(lines, index)
      if (endsIn === null) return result(null) // The others in this line end nowhere either.
      hide(at, text.length)
      return result(endsIn)
    }
    comments.push(text.slice(at + 4, end).trim())
    hide(at, isFirst ? text.length : end + 3)
    if (isFirst) return result(null)
    spot.skip(end + 3)
  }
}

/** Finds where comments begin, one after the other, but not in code. */
class CommentFinder {
  readonly #text: string
  /** Where runs of backticks begin, by their length. */
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

  /** -1 when there is none any more. */
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
