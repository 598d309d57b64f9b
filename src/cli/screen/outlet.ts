import { hasCode } from '../../lib/trouble.ts'
import { type Paint, paintWith } from './paint.ts'

/** stdout or stderr. */
export interface Outlet {
  readonly isTerminal: boolean
  readonly isColoured: boolean
  readonly paint: Paint
  /** Columns; endless when it is no terminal. */
  readonly width: number
  /** Aborted once nobody reads any more, as behind `| head`: a reason to end, not an error. */
  readonly closed: AbortSignal
  /** Writes a line. */
  say(text: string): void
  /** Writes bytes, and resolves when there is room for more. */
  pour(bytes: Uint8Array): Promise<void>
}

export function openOutlet(stream: NodeJS.WriteStream, isColoured: boolean): Outlet {
  const gone = new AbortController()
  stream.on('error', cause => {
    gone.abort()
    if (!hasCode(cause, 'EPIPE', 'ERR_STREAM_DESTROYED')) process.exitCode = 1
  })
  const isTerminal = stream.isTTY === true
  return {
    isTerminal,
    isColoured,
    paint: paintWith(isColoured),
    width: isTerminal ? stream.columns || 80 : Number.POSITIVE_INFINITY,
    closed: gone.signal,
    say: text => {
      if (!gone.signal.aborted) stream.write(`${text}\n`)
    },
    pour: bytes => pour(stream, bytes, gone.signal),
  }
}

function pour(stream: NodeJS.WriteStream, bytes: Uint8Array, gone: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (gone.aborted || stream.write(bytes)) return resolve()
    const done = (): void => {
      stream.off('drain', done)
      gone.removeEventListener('abort', done)
      resolve()
    }
    stream.on('drain', done)
    gone.addEventListener('abort', done)
  })
}
