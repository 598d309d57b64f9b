import fs from 'node:fs'
import { stripControls } from '../../lib/text/terminal-text.ts'
import { hasCode, errorMessage } from '../../lib/errors.ts'
import { isTerminal } from './tty.ts'
import { type Paint, makePaint } from './colors.ts'

/**
 * stdout or stderr. It writes lines directly to the descriptor while that works: Node's stream for a pipe takes 3 ms to
 * load, a tenth of the time of a short command.
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

  /** The number of columns; infinite if this is not a terminal. */
  get width(): number {
    return this.isTerminal ? this.#open().columns || 80 : Number.POSITIVE_INFINITY
  }

  /** The number of lines; infinite if this is not a terminal. */
  get height(): number {
    return this.isTerminal ? this.#open().rows || 24 : Number.POSITIVE_INFINITY
  }

  /** Aborts once nobody reads any more, as behind `| head`: this is a reason to end, not an error. */
  get closed(): AbortSignal {
    return this.#closing.signal
  }

  /** Writes a line. It removes all control characters but our own colours, because the text may come from others. */
  printLine(text: string): void {
    const line = Buffer.from(`${stripControls(text, { colour: this.isColoured })}\n`)
    const rest = this.#stream === undefined ? this.#writeDirectly(line) : line
    if (rest.length > 0 && !this.closed.aborted) this.#open().write(rest)
  }

  /** Draws lines over the previous ones, from the top of the screen. It removes control characters like `printLine`. */
  async redraw(lines: readonly string[]): Promise<void> {
    const text = lines.map(line => `${stripControls(line, { colour: this.isColoured })}\u001b[K\n`).join('')
    await this.write(Buffer.from(`\u001b[H${text}\u001b[J`))
  }

  /** Writes bytes unchanged, and resolves when the stream accepts more. */
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

  /** Returns the bytes that it could not write yet: a non-blocking pipe may be full. */
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

  /** A full disk behind a redirection is a failure; a reader that exited is not. */
  #fail(cause: unknown): void {
    const isFirst = !this.closed.aborted
    this.#closing.abort()
    if (hasCode(cause, 'EPIPE', 'ERR_STREAM_DESTROYED')) return
    process.exitCode = 1
    if (isFirst && this.#descriptor === 1) reportWriteError(cause)
  }
}

/**
 * Writes directly to the descriptor. stderr may lead to the same full disk; then only the exit code reports the
 * failure.
 */
function reportWriteError(cause: unknown): void {
  const why = hasCode(cause, 'ENOSPC') ? 'no space left on the device' : errorMessage(cause)
  try {
    fs.writeSync(2, `error: cannot write the output: ${why}\n`)
  } catch {
    // The exit code reports it.
  }
}
