import { stripControls } from '../../lib/text/strip-terminal-controls.ts'
import { hasCode } from '../../lib/errors.ts'
import type { OutputTarget } from '../host.ts'
import { type Paint, makePaint } from './colors.ts'

/** stdout or stderr. It writes lines at once while that works: a stream takes a tenth of the time of a short command. */
export class Output {
  readonly isTerminal: boolean
  readonly isColoured: boolean
  readonly paint: Paint
  readonly #target: OutputTarget
  readonly #closing = new AbortController()
  #stream: ReturnType<OutputTarget['open']> | undefined

  constructor(target: OutputTarget, wantsColour: (isTerminal: boolean) => boolean) {
    this.#target = target
    this.isTerminal = target.isTerminal
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

  /** Writes a question without an end of line, because the answer follows in the same line. */
  printPrompt(text: string): void {
    this.#open().write(stripControls(text, { colour: false }))
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
      while (rest.length > 0) rest = rest.subarray(this.#target.writeSync(rest))
    } catch (cause) {
      if (!hasCode(cause, 'EAGAIN')) this.#fail(cause)
    }
    return rest
  }

  #open(): ReturnType<OutputTarget['open']> {
    if (this.#stream === undefined) {
      this.#stream = this.#target.open()
      this.#stream.on('error', cause => this.#fail(cause))
    }
    return this.#stream
  }

  /** A full disk behind a redirection is a failure; a reader that exited is not. */
  #fail(cause: unknown): void {
    const isFirst = !this.closed.aborted
    this.#closing.abort()
    if (hasCode(cause, 'EPIPE', 'ERR_STREAM_DESTROYED')) return
    if (isFirst) this.#target.fail(cause)
  }
}
