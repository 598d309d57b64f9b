import { displayWidth } from './display-width.ts'

/** An escape sequence, a control character, or a run of text. */
const TOKEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are made of control characters
  /\u001b\[([0-?]*)[ -/]*([@-~])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[P^_X][^\u001b]*\u001b\\|\u001b[ -/]*([0-~])|[\u0000-\u001f\u007f]|[^\u0000-\u001f\u007f]+/g
/** Matches the start of a sequence whose end has not arrived yet. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the same
const UNFINISHED = /\u001b(?:\[[0-?]*[ -/]*|\][^\u0007\u001b]{0,4096}\u001b?|[P^_X][^\u001b]{0,4096}\u001b?|[ -/]*)?$/
/**
 * Matches a sign that a program draws on the whole screen: it changes to the alternate screen, clears the screen, or
 * names a row for the cursor.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the same
const DRAWING = /\u001b\[(?:\?(?:1049|1047|47)h|[0-9;]*[Hf]|2J)/
// biome-ignore lint/suspicious/noControlCharactersInRegex: the same
const ALTERNATE = /\u001b\[\?(?:1049|1047|47)h/

/** The size of a session's terminal until somebody attaches. */
const HEIGHT = 50
const WIDTH = 200
/** Programs ask for a far position in order to learn the size of the screen. */
const FARTHEST = 500
/** The longest row, so that output without a line end takes no memory. */
const LONGEST = 16_384

export function drawsOnScreen(text: string): boolean {
  return DRAWING.test(text)
}

interface Options {
  /** The line above the last screen of a program that used the alternate screen. */
  readonly heading: string
  /**
   * For a reader who waits for each line: the converter does not draw the main screen, so that it delays no line, and
   * it writes this line when a program changes to the alternate screen. Null: the reader takes everything at once.
   */
  readonly notice: string | null
}

/**
 * Converts the terminal output of programs to lines. Passes ordinary output on as it is. For a program that draws on
 * the whole screen, it passes on the lines that have scrolled away, that the program cleared, or that the screen shows
 * at the end.
 */
export class ScreenText {
  readonly #options: Options
  #held = ''
  #main: Grid | null = null
  #alternate: Grid | null = null
  /** True if it passed on something visible since the last line end. */
  #isLineOpen = false

  constructor(options: Options) {
    this.#options = options
  }

  write(text: string): string {
    const all = this.#held + text
    const cut = all.search(UNFINISHED)
    this.#held = cut < 0 ? '' : all.slice(cut)
    return this.#take(cut < 0 ? all : all.slice(0, cut))
  }

  /** Returns the rest when the output has ended. */
  end(): string {
    const held = this.#main === null && this.#alternate === null ? this.#held : ''
    this.#held = ''
    const left = this.#leaveAlternate() + (this.#main?.flush() ?? '') + held
    this.#main = null
    return left
  }

  #take(text: string): string {
    if (this.#main !== null || this.#alternate !== null) return this.#draw(text)
    const { notice } = this.#options
    const start = (notice === null ? DRAWING : ALTERNATE).exec(text)
    if (start === null) return this.#pass(text)
    if (ALTERNATE.test(start[0])) this.#alternate = new Grid()
    else this.#main = new Grid()
    const before = this.#pass(text.slice(0, start.index))
    const lineEnd = this.#isLineOpen ? '\n' : ''
    this.#isLineOpen = false
    return `${before}${lineEnd}${notice === null ? '' : `${notice}\n`}${this.#draw(text.slice(start.index))}`
  }

  #pass(text: string): string {
    const line = text.slice(text.lastIndexOf('\n') + 1)
    const isSame = line.length === text.length && this.#isLineOpen
    this.#isLineOpen = isSame || line.replace(TOKEN, token => (token >= ' ' && token !== '\u007f' ? token : '')) !== ''
    return text
  }

  #draw(text: string): string {
    let out = ''
    TOKEN.lastIndex = 0
    for (let token = TOKEN.exec(text); token !== null; token = TOKEN.exec(text)) {
      const [whole, parameters = '', final = '', escaped = ''] = token
      const mode = final === 'h' || final === 'l' ? /^\?(?:1049|1047|47)$/.test(parameters) : false
      if (mode && final === 'h') this.#alternate ??= new Grid()
      else if (mode) {
        const at = TOKEN.lastIndex
        out += this.#leaveAlternate()
        // Without a main screen the rest is ordinary output, or another program's screen.
        if (this.#main === null) return out + this.#take(text.slice(at))
      } else if (this.#alternate !== null) this.#alternate.obey(whole, parameters, final, escaped)
      else out += this.#main?.obey(whole, parameters, final, escaped) ?? ''
    }
    return out
  }

  #leaveAlternate(): string {
    const shown = this.#alternate?.lastScreen() ?? ''
    this.#alternate = null
    return shown === '' ? '' : `${this.#options.heading}\n${shown}`
  }
}

/** The cells of a screen. Rows are as long as their content: a terminal of unknown width wraps nothing. */
class Grid {
  #rows: string[][] = []
  #height = HEIGHT
  #top = 0
  #bottom = HEIGHT - 1
  #row = 0
  #column = 0
  #saved = { row: 0, column: 0 }
  /** The content of the screen before a program last cleared it. */
  #cleared = ''

  /** Applies a token and returns the lines that it removed from the screen. */
  obey(whole: string, parameters: string, final: string, escaped: string): string {
    if (final !== '') return this.#control(final, parameters)
    if (escaped !== '') return this.#escape(escaped)
    const [first = ''] = whole
    if (first >= ' ' && first !== '\u007f') return this.#put(whole)
    if (first === '\r') this.#column = 0
    else if (first === '\b') this.#column = Math.max(0, this.#column - 1)
    else if (first === '\t') this.#column = (Math.floor(this.#column / 8) + 1) * 8
    else if (first === '\n' || first === '\v' || first === '\f') return this.#down()
    return ''
  }

  /** Returns the lines of the screen and empties it. */
  flush(): string {
    const text = this.#text()
    this.#rows = []
    return text
  }

  lastScreen(): string {
    const text = this.#text()
    return text === '' ? this.#cleared : text
  }

  #text(): string {
    const lines = Array.from(this.#rows, row => (row === undefined ? '' : textOf(row)))
    const end = lines.findLastIndex(line => line !== '') + 1
    const start = lines.findIndex(line => line !== '')
    return end === 0 ? '' : `${lines.slice(start, end).join('\n')}\n`
  }

  #put(text: string): string {
    let row = this.#line(this.#row)
    let gone = ''
    for (const character of text) {
      if (this.#column >= LONGEST) {
        this.#column = 0
        gone += this.#down()
        row = this.#line(this.#row)
      }
      const width = displayWidth(character)
      if (width === 0 && this.#column > 0) row[this.#column - 1] = `${row[this.#column - 1] ?? ''}${character}`
      if (width === 0) continue
      row[this.#column] = character
      if (width === 2) row[this.#column + 1] = ''
      this.#column += width
    }
    return gone
  }

  #line(at: number): string[] {
    this.#rows[at] ??= []
    return this.#rows[at]
  }

  #down(): string {
    if (this.#row !== this.#bottom) {
      this.#row = Math.min(this.#row + 1, this.#height - 1)
      return ''
    }
    const gone = this.#top === 0 ? `${textOf(this.#rows[0] ?? [])}\n` : ''
    this.#scroll(1)
    return gone
  }

  #scroll(count: number, from = this.#top): void {
    const span = this.#bottom - from + 1
    for (let n = 0; n < Math.min(Math.abs(count), span); n++) {
      this.#line(this.#bottom)
      this.#rows.splice(count > 0 ? from : this.#bottom, 1)
      this.#rows.splice(count > 0 ? this.#bottom : from, 0, [])
    }
  }

  #escape(final: string): string {
    if (final === '7') this.#saved = { row: this.#row, column: this.#column }
    else if (final === '8') this.#restore()
    else if (final === 'D' || final === 'E') {
      if (final === 'E') this.#column = 0
      return this.#down()
    } else if (final === 'M') {
      if (this.#row === this.#top) this.#scroll(-1)
      else this.#row = Math.max(0, this.#row - 1)
    } else if (final === 'c') return this.#clear()
    return ''
  }

  #restore(): void {
    this.#row = this.#saved.row
    this.#column = this.#saved.column
  }

  #control(final: string, parameters: string): string {
    if (/[<-?]/.test(parameters)) return ''
    const numbers = parameters.split(';').map(text => (text === '' ? 0 : Number.parseInt(text, 10)))
    const [first = 0, second = 0] = numbers
    const count = Math.min(Math.max(1, first), FARTHEST)
    switch (final) {
      case 'A':
      case 'F':
        return this.#moveTo(this.#row - count, final === 'F' ? 0 : this.#column)
      case 'B':
      case 'E':
        return this.#moveTo(this.#row + count, final === 'E' ? 0 : this.#column)
      case 'C':
        return this.#moveTo(this.#row, this.#column + count)
      case 'D':
        return this.#moveTo(this.#row, this.#column - count)
      case 'G':
      case '`':
        return this.#moveTo(this.#row, Math.max(1, first) - 1)
      case 'd':
        return this.#moveTo(Math.max(1, first) - 1, this.#column)
      case 'H':
      case 'f':
        return this.#moveTo(Math.max(1, first) - 1, Math.max(1, second) - 1)
      case 'J':
        return this.#eraseScreen(first)
      case 'r':
        return this.#setRegion(first, second)
      case 's':
        this.#saved = { row: this.#row, column: this.#column }
        return ''
      case 'u':
        this.#restore()
        return ''
      default:
        this.#edit(final, first, count)
        return ''
    }
  }

  #moveTo(row: number, column: number): string {
    const isFar = row >= FARTHEST
    if (!isFar) this.#grow(row + 1)
    this.#row = Math.max(0, isFar ? this.#height - 1 : row)
    this.#column = Math.max(0, column >= FARTHEST ? WIDTH - 1 : column)
    return ''
  }

  #grow(height: number): void {
    if (height <= this.#height) return
    if (this.#bottom === this.#height - 1) this.#bottom = height - 1
    this.#height = height
  }

  /** A region that starts at the top shows the height of the screen, except for lines that a program keeps below it. */
  #setRegion(top: number, bottom: number): string {
    if (bottom > 0 && bottom < FARTHEST) this.#grow(bottom)
    const isWhole = bottom === 0 || bottom >= FARTHEST || bottom <= top
    this.#top = isWhole ? 0 : Math.max(1, top) - 1
    this.#bottom = isWhole ? this.#height - 1 : bottom - 1
    this.#row = 0
    this.#column = 0
    return ''
  }

  #eraseScreen(which: number): string {
    if (which === 2 || which === 3 || (which === 0 && this.#row === 0 && this.#column === 0)) return this.#clear()
    if (which === 0) {
      this.#line(this.#row).length = Math.min(this.#line(this.#row).length, this.#column)
      this.#rows.length = Math.min(this.#rows.length, this.#row + 1)
    } else {
      for (let at = 0; at < this.#row; at++) this.#rows[at] = []
      blank(this.#line(this.#row), 0, this.#column + 1)
    }
    return ''
  }

  #clear(): string {
    const text = this.flush()
    if (text !== '') this.#cleared = text
    return text
  }

  /** Changes a row, or moves the rows below it. */
  #edit(final: string, first: number, count: number): void {
    const row = this.#line(this.#row)
    const column = this.#column
    if (final === 'K' && first === 0) row.length = Math.min(row.length, column)
    else if (final === 'K') blank(row, 0, first === 1 ? column + 1 : row.length)
    else if (final === 'X') blank(row, column, Math.min(row.length, column + count))
    else if (final === 'P') row.splice(column, count)
    else if (final === '@' && column < row.length) row.splice(column, 0, ...Array<string>(count).fill(' '))
    else if (final === 'b') this.#put((row[column - 1] ?? '').repeat(count))
    else if (final === 'L') this.#scroll(-count, this.#row)
    else if (final === 'M') this.#scroll(count, this.#row)
    else if (final === 'S') this.#scroll(count)
    else if (final === 'T') this.#scroll(-count)
  }
}

function blank(row: string[], from: number, to: number): void {
  for (let at = from; at < to; at++) row[at] = ' '
}

function textOf(row: readonly string[]): string {
  return Array.from(row, cell => cell ?? ' ')
    .join('')
    .trimEnd()
}
