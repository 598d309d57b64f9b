/** A tab leads to the next of these. */
const TAB = 4

/** A line of Markdown, looked at from some place in it on. */
export interface MarkdownLine {
  /** Without its end. */
  readonly text: string
  /** Where the look begins, and which column that is. */
  readonly at: number
  readonly column: number
}

/** The mark of a list's item: `-`, `*`, `+`, `1.` or `1)`. */
export interface ListMarker {
  /** Items of one list have the same: the sign, and for numbers what follows them. */
  readonly sign: string
  /** Null for bullets. */
  readonly number: number | null
  readonly column: number
  /** What is in the item. */
  readonly content: MarkdownLine
}

/** A line from its first character on. */
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

/** The mark that a line begins with. After it stands at least a blank, or nothing; code in an item is more than four away. */
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

/** `[ ]` or `[x]` and words after it. Where the character in the box stands, and what comes after it. */
export function parseCheckbox({ text, at }: MarkdownLine): { at: number; isTicked: boolean; title: string } | null {
  const found = /^\[([ xX])\](?=[ \t]|$)/.exec(text.slice(at))
  if (found === null) return null
  return { at: at + 1, isTicked: found[1] !== ' ', title: text.slice(at + 3).trim() }
}

/** The signs that begin a block of code, and end it again. */
export function parseFence(line: MarkdownLine): string | null {
  return /^(`{3,}(?=[^`]*$)|~{3,})/.exec(restOfLine(line))?.[1] ?? null
}

export function isFenceEnd(line: MarkdownLine, fence: string): boolean {
  const rest = restOfLine(line).trim()
  return rest.length >= fence.length && rest === (fence[0] as string).repeat(rest.length)
}

/** `## Title ##` */
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

/** What makes the paragraph above it a heading. */
export function parseUnderline(line: MarkdownLine): 1 | 2 | null {
  const rest = restOfLine(line).trimEnd()
  if (/^=+$/.test(rest)) return 1
  return /^-+$/.test(rest) ? 2 : null
}

/** A line across the page. */
export function isRule(rest: string): boolean {
  return /^(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/.test(rest)
}

/** A line without the first columns of its blanks. */
export function dedent(text: string, columns: number): string {
  let column = 0
  let at = 0
  while (column < columns && (text[at] === ' ' || text[at] === '\t')) {
    column += text[at] === '\t' ? TAB - (column % TAB) : 1
    at++
  }
  return ' '.repeat(Math.max(0, column - columns)) + text.slice(at)
}
