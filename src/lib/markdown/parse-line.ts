/** The distance of tab stops, in columns. */
const TAB = 4

/** A line of Markdown, from a position in it on. */
export interface MarkdownLine {
  /** The text without its line end. */
  readonly text: string
  /** The position, and its column. */
  readonly at: number
  readonly column: number
}

/** The marker of a list item: `-`, `*`, `+`, `1.` or `1)`. */
export interface ListMarker {
  /** Equal for all items of one list: the bullet, or the sign after the number. */
  readonly sign: string
  /** Null for bullets. */
  readonly number: number | null
  readonly column: number
  /** The content of the item. */
  readonly content: MarkdownLine
}

/** Moves to the first character that is not blank. */
export function skipIndent({ text, at, column }: MarkdownLine): MarkdownLine {
  let end = at
  let reached = column
  for (; text[end] === ' ' || text[end] === '\t'; end++) reached += text[end] === '\t' ? TAB - (reached % TAB) : 1
  return { text, at: end, column: reached }
}

export function isBlank(line: MarkdownLine): boolean {
  return restOfLine(line).trim() === ''
}

export function restOfLine({ text, at }: MarkdownLine): string {
  return text.slice(at)
}

/**
 * Returns the marker at the start of a line. At least a blank, or nothing, follows it; code in an item is more than
 * four columns away.
 */
export function parseMarker(line: MarkdownLine): ListMarker | null {
  const found = /^(?:[-*+]|(\d{1,9})[.)])(?=[ \t]|$)/.exec(restOfLine(line))
  if (found === null || isRule(restOfLine(line))) return null
  const [mark, number] = found
  const after = { text: line.text, at: line.at + mark.length, column: line.column + mark.length }
  const content = skipIndent(after)
  const isFar = content.column - after.column > TAB || content.at === line.text.length
  return {
    sign: mark.slice(-1),
    number: number === undefined ? null : Number(number),
    column: line.column,
    content: isFar ? { ...after, at: Math.min(after.at + 1, line.text.length), column: after.column + 1 } : content,
  }
}

/** Parses `[ ]` or `[x]` and the text after it. Returns the position of the character in the box, and the text. */
export function parseCheckbox({ text, at }: MarkdownLine): { at: number; isTicked: boolean; title: string } | null {
  const found = /^\[([ xX])\](?=[ \t]|$)/.exec(text.slice(at))
  if (found === null) return null
  return { at: at + 1, isTicked: found[1] !== ' ', title: text.slice(at + 3).trim() }
}

/** Returns the characters that start a code block and also end it. */
export function parseFence(line: MarkdownLine): string | null {
  return /^(`{3,}(?=[^`]*$)|~{3,})/.exec(restOfLine(line))?.[1] ?? null
}

export function isFenceEnd(line: MarkdownLine, fence: string): boolean {
  const rest = restOfLine(line).trim()
  return rest.length >= fence.length && rest === (fence[0] as string).repeat(rest.length)
}

/** Parses `## Title ##`. */
export function parseHeading(line: MarkdownLine): { level: number; title: string } | null {
  const [, signs, rest = ''] = /^(#{1,6})(?:[ \t](.*))?$/.exec(restOfLine(line).trimEnd()) ?? []
  return signs === undefined
    ? null
    : {
        level: signs.length,
        title: rest
          .trim()
          .replace(/(?:^|[ \t])#+$/, '')
          .trim(),
      }
}

/** Returns the heading level that this underline gives to the paragraph above it. */
export function parseUnderline(line: MarkdownLine): 1 | 2 | null {
  const rest = restOfLine(line).trimEnd()
  if (/^=+$/.test(rest)) return 1
  return /^-+$/.test(rest) ? 2 : null
}

/** Returns true for a horizontal rule. */
export function isRule(rest: string): boolean {
  return /^(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/.test(rest)
}

/** Removes this many columns of indentation from a line. */
export function dedent(text: string, columns: number): string {
  let column = 0
  let at = 0
  while (column < columns && (text[at] === ' ' || text[at] === '\t')) {
    column += text[at] === '\t' ? TAB - (column % TAB) : 1
    at++
  }
  return ' '.repeat(Math.max(0, column - columns)) + text.slice(at)
}
