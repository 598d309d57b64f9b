import fs from 'node:fs'
import { stripControls } from '../../lib/text/terminal-text.ts'
import { hasCode, errorMessage } from '../../lib/errors.ts'
import { isTerminal } from './tty.ts'
import { type Paint, makePaint } from './colors.ts'

/**
 * stdout or stderr. Lines are written straight to the descriptor for as long as that works: Node's stream for a pipe
 * takes 3 ms to load, a tenth of what a short command may take.
 */
export class Output {
  readonly isTerminal: boolean
  readonly isColoured: boolean
  readonly paint: Paint
  readonly #descriptor: 1 | 2
  readonly #closing = new AbortController()
  #stream: NodeJS.WriteStream | undefined

  constructor(descriptor: 1 | 2, wantsColour: (isTerminal: boolean) => boolean) {
    this.#descriptor = descriptor
    this.isTerminal = isTerminal(descriptor)
    this.isColoured = wantsColour(this.isTerminal)
    this.paint = makePaint(this.isColoured)
  }

  /** Columns; endless when it is no terminal. */
  get width(): number {
    return this.isTerminal ? this.#open().columns || 80 : Number.POSITIVE_INFINITY
  }

  /** Lines; endless when it is no terminal. */
  get height(): number {
    return this.isTerminal ? this.#open().rows || 24 : Number.POSITIVE_INFINITY
  }

  /** Aborted once nobody reads any more, as behind `| head`: a reason to end, not an error. */
  get closed(): AbortSignal {
    return this.#closing.signal
  }

  /** Writes a line. Whatever others have put into it, a terminal obeys nothing in it but our own colours. */
  printLine(text: string): void {
    const line = Buffer.from(`${stripControls(text, { colour: this.isColoured })}\n`)
    const rest = this.#stream === undefined ? this.#writeDirectly(line) : line
    if (rest.length > 0 && !this.closed.aborted) this.#open().write(rest)
  }

  /** Lines in the place of those that were drawn before, from the top of the screen. They are as harmless as those of `say`. */
  async redraw(lines: readonly string[]): Promise<void> {
    const text = lines.map(line => `${stripControls(line, { colour: this.isColoured })}\u001b[K\n`).join('')
    await this.write(Buffer.from(`\u001b[H${text}\u001b[J`))
  }

  /** Writes bytes as they are, and resolves when there is room for more. */
  async write(bytes: Uint8Array): Promise<void> {
    const stream = this.#open()
    if (this.closed.aborted || stream.write(bytes)) return
    await new Promise<void>(resolve => {
      const done = (): void => {
        stream.off('drain', done)
        this.closed.removeEventListener('abort', done)
        resolve()
      }
      stream.on('drain', done)
      this.closed.addEventListener('abort', done)
    })
  }

  /** Answers with what could not be written yet: a pipe that somebody made non-blocking may be full. */
  #writeDirectly(line: Buffer): Buffer {
    let rest = line
    try {
      while (rest.length > 0) rest = rest.subarray(fs.writeSync(this.#descriptor, rest))
    } catch (cause) {
      if (!hasCode(cause, 'EAGAIN')) this.#fail(cause)
    }
    return rest
  }

  #open(): NodeJS.WriteStream {
    if (this.#stream === undefined) {
      this.#stream = this.#descriptor === 1 ? process.stdout : process.stderr
      this.#stream.on('error', cause => this.#fail(cause))
    }
    return this.#stream
  }

  /** A full disk behind a redirection is a failure; a reader who left is not. */
  #fail(cause: unknown): void {
    const isFirst = !this.closed.aborted
    this.#closing.abort()
    if (hasCode(cause, 'EPIPE', 'ERR_STREAM_DESTROYED')) return
    process.exitCode = 1
    if (isFirst && this.#descriptor === 1) reportWriteError(cause)
  }
}

/** Straight to the descriptor: stderr may lead to the same full disk, and then there is nobody to tell. */
function reportWriteError(cause: unknown): void {
  const why = hasCode(cause, 'ENOSPC') ? 'no space left on the device' : errorMessage(cause)
  try {
    fs.writeSync(2, `error: cannot write the output: ${why}\n`)
  } catch {
    // The exit code says it.
  }
}
