import {
  boxOf,
  fenceOf,
  headingOf,
  indented,
  isBlank,
  isFenceEnd,
  isRule,
  type Line,
  type Marker,
  markerOf,
  restOf,
  underlineOf,
} from './markdown-line.ts'
import type { Entry, Whereabouts } from './outline-entry.ts'

/** Text this far to the right of where it might begin is code. */
const CODE = 4
/** What begins this far to the right of an item's mark is meant to be in it, also where Markdown would ask for one more. */
const NESTED = 2
/** Marks of lists within lists, on one line. */
const MOST_MARKERS = 8

/** Follows Markdown's blocks line by line: which item or heading does this one stand in? */
export class Blocks {
  readonly entries: Entry[] = []
  #headings: Entry[] = []
  /** The items that have not ended, outermost first, and the lists that they are in. */
  #open: Entry[] = []
  #lists: { sign: string; id: number; column: number }[] = []
  #listCount = 0
  #fence: { signs: string; floor: number } | null = null
  /** The paragraph that the next line might go on with. */
  #paragraph: { words: string[]; comments: string[] } | null = null
  #quote = 0
  /** How much of a line makes it part of a quotation. */
  #prefix = 0

  /** Takes off what makes a line part of a quotation. One that begins or ends is the end of all else. */
  quoted(line: Line): Line {
    if (this.#fence !== null && this.#quote === 0) return line
    let depth = 0
    let rest = line
    for (let next = indented(rest); next.text[next.at] === '>'; next = indented(rest)) {
      if (next.column - rest.column >= CODE || (depth === 0 && this.#depthAt(next.column) > 0)) break
      const end = next.at + 1
      rest = { text: next.text, at: next.text[end] === ' ' ? end + 1 : end, column: 0 }
      depth++
    }
    if (depth !== this.#quote) this.#endAll()
    this.#quote = depth
    this.#prefix = rest.at
    return rest
  }

  /** Whether the line is within a block of code that has fences. */
  takeCode(line: Line): boolean {
    if (this.#fence === null) return false
    if (!isBlank(line) && line.column < this.#fence.floor) {
      this.#fence = null
      return false
    }
    if (isFenceEnd(line, this.#fence.signs)) this.#fence = null
    this.#keep(line)
    return true
  }

  take(line: Line, where: Whereabouts): void {
    if (isBlank(line)) {
      this.#paragraph = null
      return this.#keep(line)
    }
    const depth = this.#depthAt(line.column)
    const isFar = line.column - (this.#open[depth - 1]?.content ?? 0) >= CODE
    const marker = this.#markerOf(line, depth, isFar)
    if (marker !== null) return this.#beginItem(marker, depth, where)
    if (isFar && this.#paragraph === null) return this.#other(line, depth)
    this.#takeText(line, depth, where)
  }

  /** A mark begins an item unless it is code, words that go on, or the line under a heading. */
  #markerOf(line: Line, depth: number, isFar: boolean): Marker | null {
    const marker = markerOf(line)
    const isText = this.#paragraph !== null && this.#open.length === 0
    if (marker === null || (isText && underlineOf(line) !== null)) return null
    if (isFar && this.#lists[depth]?.column !== line.column && (depth === 0 || this.#paragraph === null)) return null
    const isSentence = isText && (marker.number ?? 1) !== 1 && boxOf(marker.content) === null
    return isSentence ? null : marker
  }

  #beginItem(marker: Marker, depth: number, where: Whereabouts): void {
    this.#keepIn(depth, marker.content.text)
    this.#paragraph = null
    let place = depth
    let inner: Marker | null = marker
    for (let count = 0; inner !== null && count < MOST_MARKERS; count++) {
      this.#open.length = place
      this.#lists.length = Math.min(this.#lists.length, place + 1)
      const entry = this.#itemOf(inner, place, where)
      this.entries.push(entry)
      this.#open.push(entry)
      place++
      inner = entry.box === null && entry.title !== '' ? markerOf(inner.content) : null
      if (inner !== null) entry.title = ''
    }
  }

  #itemOf(marker: Marker, place: number, { comments, line, start }: Whereabouts): Entry {
    const { content, column } = marker
    const box = boxOf(content)
    const words = box?.title || restOf(content).trim()
    const signs = box === null ? fenceOf(content) : null
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

  /** The number of the list that an item is in, for those that have numbers. */
  #listOf({ sign, number, column }: Marker, place: number): number | null {
    const known = this.#lists[place]
    const id = known?.sign === sign ? known.id : this.#listCount++
    this.#lists[place] = { sign, id, column }
    return number === null ? null : id
  }

  #takeText(line: Line, depth: number, where: Whereabouts): void {
    const level = this.#paragraph !== null && this.#open.length === 0 ? underlineOf(line) : null
    if (level !== null)
      return this.#beginHeading(level, this.#paragraph?.words.join(' ') ?? '', {
        ...where,
        comments: this.#paragraph?.comments ?? [],
      })
    const heading = headingOf(line)
    if (heading !== null && depth === 0) return this.#beginHeading(heading.level, heading.title, where)
    const signs = fenceOf(line)
    if (signs !== null) {
      this.#other(line, depth)
      const content = this.#open.at(-1)?.content ?? 0
      this.#fence = { signs, floor: Math.min(content, line.column) }
      return
    }
    if (heading !== null || isRule(restOf(line))) return this.#other(line, depth)
    if (this.#paragraph === null) this.#other(line, depth)
    else this.#keep(line)
    this.#paragraph ??= { words: [], comments: [] }
    this.#paragraph.words.push(restOf(line).trim())
    this.#paragraph.comments.push(...where.comments)
  }

  #beginHeading(level: number, title: string, { comments, line }: Whereabouts): void {
    this.#endAll()
    this.#headings = this.#headings.filter(heading => heading.level < level)
    const parent = this.#headings.at(-1) ?? null
    const entry = { parent, level, title, box: null, comments, numbered: null, line, column: 0, content: 0, lines: [] }
    this.#headings.push(entry)
    this.entries.push(entry)
  }

  /** A block of its own in the items down to that depth; deeper ones have ended. */
  #other(line: Line, depth: number): void {
    this.#open.length = Math.min(this.#open.length, depth)
    this.#lists.length = Math.min(this.#lists.length, depth)
    this.#paragraph = null
    this.#keep(line)
  }

  #endAll(): void {
    this.#open = []
    this.#lists = []
    this.#fence = null
    this.#paragraph = null
  }

  /** How many of the open items something at this column stands in. */
  #depthAt(column: number): number {
    const outside = this.#open.findIndex(item => column < Math.min(item.column + NESTED, item.content))
    return outside < 0 ? this.#open.length : outside
  }

  #keep({ text }: Line): void {
    this.#keepIn(this.#open.length, text)
  }

  #keepIn(depth: number, text: string): void {
    for (const item of this.#open.slice(0, depth)) if (item.box !== null) item.lines.push(text.slice(this.#prefix))
  }
}
