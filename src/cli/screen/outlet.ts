import fs from 'node:fs'
import { hasCode } from '../../lib/trouble.ts'
import { isTerminal } from './is-terminal.ts'
import { type Paint, paintWith } from './paint.ts'

/**
 * stdout or stderr. Lines are written straight to the descriptor for as long as that works: Node's stream for a pipe
 * takes 3 ms to load, a tenth of what a short command may take.
 */
export class Outlet {
  readonly isTerminal: boolean
  readonly isColoured: boolean
  readonly paint: Paint
  readonly #descriptor: 1 | 2
  readonly #gone = new AbortController()
  #stream: NodeJS.WriteStream | undefined

  constructor(descriptor: 1 | 2, wantsColour: (isTerminal: boolean) => boolean) {
    this.#descriptor = descriptor
    this.isTerminal = isTerminal(descriptor)
    this.isColoured = wantsColour(this.isTerminal)
    this.paint = paintWith(this.isColoured)
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
    return this.#gone.signal
  }

  /** Writes a line. */
  say(text: string): void {
    const line = Buffer.from(`${text}\n`)
    const rest = this.#stream === undefined ? this.#writeDirectly(line) : line
    if (rest.length > 0 && !this.closed.aborted) this.#open().write(rest)
  }

  /** Writes bytes, and resolves when there is room for more. */
  async pour(bytes: Uint8Array): Promise<void> {
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
    this.#gone.abort()
    if (!hasCode(cause, 'EPIPE', 'ERR_STREAM_DESTROYED')) process.exitCode = 1
  }
}
