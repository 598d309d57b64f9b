import {
  type ListMarker,
  type MarkdownLine,
  isBlank,
  isFenceEnd,
  isRule,
  parseCheckbox,
  parseFence,
  parseHeading,
  parseMarker,
  parseUnderline,
  restOfLine,
  skipIndent,
} from './parse-line.ts'

/** Text that is indented this much beyond its block is code. */
const CODE_INDENT = 4
/**
 * A line that is indented this much beyond an item's marker belongs to the item, even if Markdown asks for one more
 * column.
 */
const NESTED_INDENT = 2
/** The limit of nested list markers on one line. */
const MAX_MARKERS = 8

/** Parses Markdown's blocks line by line and finds the item or heading that contains each line. */
export class BlockParser {
  readonly entries: BlockEntry[] = []
  #headings: BlockEntry[] = []
  /** The open items, outermost first, and their lists. */
  #open: BlockEntry[] = []
  #lists: { sign: string; id: number; column: number }[] = []
  #listCount = 0
  #fence: { signs: string; floor: number } | null = null
  /** The paragraph that the next line may continue. */
  #paragraph: { words: string[]; comments: string[] } | null = null
  #quote = 0
  /** The length of a line's quotation prefix. */
  #prefix = 0

  /** Removes the quotation prefix of a line. The start or end of a quotation ends all other blocks. */
  stripQuote(line: MarkdownLine): MarkdownLine {
    if (this.#fence !== null && this.#quote === 0) return line
    let depth = 0
    let rest = line
    for (let next = skipIndent(rest); next.text[next.at] === '>'; next = skipIndent(rest)) {
      if (next.column - rest.column >= CODE_INDENT || (depth === 0 && this.#depthAt(next.column) > 0)) break
      const end = next.at + 1
      rest = { text: next.text, at: next.text[end] === ' ' ? end + 1 : end, column: 0 }
      depth++
    }
    if (depth !== this.#quote) this.#endAll()
    this.#quote = depth
    this.#prefix = rest.at
    return rest
  }

  /** Adds a line of a fenced code block; returns false if the line is not in one. */
  addCodeLine(line: MarkdownLine): boolean {
    if (this.#fence === null) return false
    if (!isBlank(line) && line.column < this.#fence.floor) {
      this.#fence = null
      return false
    }
    if (isFenceEnd(line, this.#fence.signs)) this.#fence = null
    this.#appendLine(line)
    return true
  }

  addLine(line: MarkdownLine, where: LinePosition): void {
    if (isBlank(line)) {
      this.#paragraph = null
      return this.#appendLine(line)
    }
    const depth = this.#depthAt(line.column)
    const isFar = line.column - (this.#open[depth - 1]?.content ?? 0) >= CODE_INDENT
    const marker = this.#markerOf(line, depth, isFar)
    if (marker !== null) return this.#startItem(marker, depth, where)
    if (isFar && this.#paragraph === null) return this.#addOtherBlock(line, depth)
    this.#addTextLine(line, depth, where)
  }

  /** A marker starts an item unless it is code, a continued sentence, or the underline of a heading. */
  #markerOf(line: MarkdownLine, depth: number, isFar: boolean): ListMarker | null {
    const marker = parseMarker(line)
    const isText = this.#paragraph !== null && this.#open.length === 0
    if (marker === null || (isText && parseUnderline(line) !== null)) return null
    if (isFar && this.#lists[depth]?.column !== line.column && (depth === 0 || this.#paragraph === null)) return null
    const isSentence = isText && (marker.number ?? 1) !== 1 && parseCheckbox(marker.content) === null
    return isSentence ? null : marker
  }

  #startItem(marker: ListMarker, depth: number, where: LinePosition): void {
    this.#appendLineTo(depth, marker.content.text)
    this.#paragraph = null
    let place = depth
    let inner: ListMarker | null = marker
    for (let count = 0; inner !== null && count < MAX_MARKERS; count++) {
      this.#open.length = place
      this.#lists.length = Math.min(this.#lists.length, place + 1)
      const entry = this.#itemOf(inner, place, where)
      this.entries.push(entry)
      this.#open.push(entry)
      place++
      inner = entry.box === null && entry.title !== '' ? parseMarker(inner.content) : null
      if (inner !== null) entry.title = ''
    }
  }

  #itemOf(marker: ListMarker, place: number, { comments, line, start }: LinePosition): BlockEntry {
    const { content, column } = marker
    const box = parseCheckbox(content)
    const words = box?.title || restOfLine(content).trim()
    const signs = box === null ? parseFence(content) : null
    if (signs !== null) this.#fence = { signs, floor: content.column }
    else if (words !== '') this.#paragraph = { words: [], comments: [] }
    return {
      parent: this.#open[place - 1] ?? this.#headings.at(-1) ?? null,
      level: 0,
      title: signs === null ? words : '',
      box: box === null || box.title === '' ? null : { at: start + box.at, isTicked: box.isTicked },
      comments,
      numbered: this.#listOf(marker, place),
      line,
      column,
      content: content.column,
      lines: [],
    }
  }

  /** Returns the number of the list that contains an item, if the list is numbered. */
  #listOf({ sign, number, column }: ListMarker, place: number): number | null {
    const known = this.#lists[place]
    const id = known?.sign === sign ? known.id : this.#listCount++
    this.#lists[place] = { sign, id, column }
    return number === null ? null : id
  }

  #addTextLine(line: MarkdownLine, depth: number, where: LinePosition): void {
    const level = this.#paragraph !== null && this.#open.length === 0 ? parseUnderline(line) : null
    if (level !== null)
      return this.#startHeading(level, this.#paragraph?.words.join(' ') ?? '', {
        ...where,
        comments: this.#paragraph?.comments ?? [],
      })
    const heading = parseHeading(line)
    if (heading !== null && depth === 0) return this.#startHeading(heading.level, heading.title, where)
    const signs = parseFence(line)
    if (signs !== null) {
      this.#addOtherBlock(line, depth)
      const content = this.#open.at(-1)?.content ?? 0
      this.#fence = { signs, floor: Math.min(content, line.column) }
      return
    }
    if (heading !== null || isRule(restOfLine(line))) return this.#addOtherBlock(line, depth)
    if (this.#paragraph === null) this.#addOtherBlock(line, depth)
    else this.#appendLine(line)
    this.#paragraph ??= { words: [], comments: [] }
    this.#paragraph.words.push(restOfLine(line).trim())
    this.#paragraph.comments.push(...where.comments)
  }

  #startHeading(level: number, title: string, { comments, line }: LinePosition): void {
    this.#endAll()
    this.#headings = this.#headings.filter(heading => heading.level < level)
    const parent = this.#headings.at(-1) ?? null
    const entry = { parent, level, title, box: null, comments, numbered: null, line, column: 0, content: 0, lines: [] }
    this.#headings.push(entry)
    this.entries.push(entry)
  }

  /** Adds a separate block to the items down to that depth; deeper items have ended. */
  #addOtherBlock(line: MarkdownLine, depth: number): void {
    this.#open.length = Math.min(this.#open.length, depth)
    this.#lists.length = Math.min(this.#lists.length, depth)
    this.#paragraph = null
    this.#appendLine(line)
  }

  #endAll(): void {
    this.#open = []
    this.#lists = []
    this.#fence = null
    this.#paragraph = null
  }

  /** Returns how many of the open items contain something at this column. */
  #depthAt(column: number): number {
    const outside = this.#open.findIndex(item => column < Math.min(item.column + NESTED_INDENT, item.content))
    return outside < 0 ? this.#open.length : outside
  }

  #appendLine({ text }: MarkdownLine): void {
    this.#appendLineTo(this.#open.length, text)
  }

  #appendLineTo(depth: number, text: string): void {
    for (const item of this.#open.slice(0, depth)) if (item.box !== null) item.lines.push(text.slice(this.#prefix))
  }
}

/** A heading or an item while the parser reads it. */
export interface BlockEntry {
  readonly parent: BlockEntry | null
  /** The level of a heading; 0 for items. */
  readonly level: number
  title: string
  box: { readonly at: number; readonly isTicked: boolean } | null
  comments: readonly string[]
  readonly numbered: number | null
  readonly line: number
  /** The columns of the marker and of the content. */
  readonly column: number
  readonly content: number
  /** All lines of the entry after its first one. */
  readonly lines: string[]
}

/** The position of a line in the text, and the comments on it. */
export interface LinePosition {
  readonly comments: readonly string[]
  readonly line: number
  readonly start: number
}
