/** A comment that is not closed where it begins is looked after no further than this many lines, unless it stands alone. */
const NEAR = 20

/** What a person reads of a line, and what comments say there. */
export interface Unveiled {
  /** Of the same length: comments are blanks. */
  readonly text: string
  readonly comments: readonly string[]
  /** The line whose text ends what was begun here. */
  readonly endsIn: number | null
}

export interface Spot {
  /** Of the line, and where in it the look begins. */
  readonly index: number
  readonly from: number
  /** From this line on no comment is closed any more. */
  readonly openTo: number
}

/**
 * Takes comments off a line. One that begins a line may reach as far as it likes; one among words ends with its paragraph, and
 * before the next box. What is never closed is no comment: it would hide all that follows.
 */
export function unveil(lines: readonly string[], { index, from, openTo }: Spot): Unveiled {
  let text = lines[index] as string
  const comments: string[] = []
  for (let at = beginIn(text, from); at >= 0; at = beginIn(text, at + 1)) {
    const isFirst = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*$/.test(text.slice(from, at))
    const end = text.indexOf('-->', at + 4)
    if (end >= 0) {
      comments.push(text.slice(at + 4, end).trim())
      text = blanked(text, at, isFirst ? text.length : end + 3)
      continue
    }
    const endsIn = isFirst ? closedIn(lines, index, openTo) : nearIn(lines, index)
    if (endsIn !== null) return { text: blanked(text, at, text.length), comments, endsIn }
  }
  return { text, comments, endsIn: null }
}

/** Where a comment begins that stands in no code; -1 when none does. */
function beginIn(text: string, from: number): number {
  if (!text.includes('<!--', from)) return -1
  for (const found of text.slice(from).matchAll(/(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)|<!--/g)) {
    if (found[0] === '<!--') return from + found.index
  }
  return -1
}

function blanked(text: string, from: number, to: number): string {
  return text.slice(0, from) + ' '.repeat(to - from) + text.slice(to)
}

function closedIn(lines: readonly string[], index: number, before: number): number | null {
  for (let next = index + 1; next < before; next++) if (lines[next]?.includes('-->')) return next
  return null
}

function nearIn(lines: readonly string[], index: number): number | null {
  const near = lines.slice(index + 1, index + 1 + NEAR)
  const end = near.findIndex(line => line.trim() === '' || /^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ xX]\]/.test(line))
  return closedIn(lines, index, index + 1 + (end < 0 ? near.length : end))
}
