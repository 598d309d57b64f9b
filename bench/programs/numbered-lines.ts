/**
 * Bytes of a line with its line end. Every line has its number, so that a missing, repeated or misplaced line is
 * visible.
 */
const LINE = 100
const DIGITS = 9
const ZERO = 48
/** Lines per write: 64,000 bytes, as large writers use with stdio. */
export const LINES_PER_CHUNK = 640

/** One buffer for all chunks: `render` fills it with the lines from `first` on and returns the valid part. */
export class NumberedLines {
  readonly #buffer = Buffer.alloc(LINE * LINES_PER_CHUNK, 'x')
  readonly #total: number

  constructor(total: number) {
    this.#total = total
    for (let line = 0; line < LINES_PER_CHUNK; line++) {
      this.#buffer[line * LINE + DIGITS] = ' '.charCodeAt(0)
      this.#buffer[(line + 1) * LINE - 1] = '\n'.charCodeAt(0)
    }
  }

  render(first: number): Buffer {
    const lines = Math.min(LINES_PER_CHUNK, this.#total - first)
    for (let line = 0; line < lines; line++) this.#number(line * LINE, first + line)
    return this.#buffer.subarray(0, lines * LINE)
  }

  #number(offset: number, value: number): void {
    let rest = value
    for (let digit = DIGITS - 1; digit >= 0; digit--) {
      this.#buffer[offset + digit] = ZERO + (rest % 10)
      rest = Math.floor(rest / 10)
    }
  }
}

export function bytesOf(lines: number): number {
  return lines * LINE
}
