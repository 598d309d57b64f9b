import fs from 'node:fs'
import type { SessionView } from '../api/contract/responses.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import type { Instant } from '../lib/time.ts'
import { attemptFolder, sessionFolder } from '../state/session-folder.ts'
import type { Home } from '../state/home.ts'

/** A file with output of a session, and the file that records its length over time. */
export interface LogSource {
  readonly file: string
  readonly times: string
  /** True for oneshot's transcript, false for the program's own bytes. */
  readonly isTranscript: boolean
}

/**
 * Finds the files of a session's log. An agent whose output oneshot parses has one transcript; for other programs, and
 * for `raw`, the log is the program's own output, attempt after attempt.
 */
export function findLogSources(
  home: Home,
  session: SessionView,
  options: { raw: boolean; attempt?: number },
): LogSource[] {
  const folder = sessionFolder(home, session.id)
  if (!options.raw && options.attempt === undefined && fs.existsSync(folder.transcript)) {
    return [{ file: folder.transcript, times: folder.times, isTranscript: true }]
  }
  const first = options.attempt ?? 1
  const last = options.attempt ?? session.attempt
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => attemptFolder(home, session.id, first + i))
    .filter(attempt => fs.existsSync(attempt.stdout))
    .map(attempt => ({ file: attempt.stdout, times: attempt.times, isTranscript: false }))
}

/** Returns the current length of the transcript; later output comes after it. */
export function readTranscriptLength(home: Home, id: SessionId): number {
  return fs.statSync(sessionFolder(home, id).transcript, { throwIfNoEntry: false })?.size ?? 0
}

/** Returns the offset of the output since `since`, as precisely as the recorded lengths allow. */
export function findOffsetSince(source: LogSource, since: Instant): number {
  const written = fs.statSync(source.file)
  if (written.mtimeMs < since) return written.size
  for (const line of linesFromEnd(source.times)) {
    const [at, length] = line.split(' ').map(Number)
    if (at !== undefined && length !== undefined && at <= since) return length
  }
  return 0
}

/** Yields the lines of a file from the last to the first. It reads no more than the caller asks for. */
function* linesFromEnd(file: string): Generator<string> {
  if (!fs.existsSync(file)) return
  let rest = ''
  for (const { chunk } of blocksFromEnd(file)) {
    const [first = '', ...whole] = `${chunk.toString('latin1')}${rest}`.split('\n')
    yield* whole.reverse()
    rest = first
  }
  yield rest
}

/**
 * Returns the offset of the last `count` lines of a file, and the number of lines found, by which the caller decides to
 * search earlier files.
 */
export function findOffsetOfLastLines(file: string, count: number): { offset: number; found: number } {
  let found = 0
  let isEmpty = true
  for (const { chunk, position } of blocksFromEnd(file)) {
    // The last line end of the file begins no further line.
    let at = isEmpty ? chunk.length - 2 : chunk.length - 1
    isEmpty = false
    for (at = lastLineEnd(chunk, at); at >= 0; at = lastLineEnd(chunk, at - 1))
      if (++found === count) return { offset: position + at + 1, found }
  }
  return { offset: 0, found: isEmpty ? 0 : found + 1 }
}

function lastLineEnd(chunk: Buffer, from: number): number {
  return from < 0 ? -1 : chunk.lastIndexOf(0x0a, from)
}

/** Bytes in a block. Fifty lines usually fit into one. */
const BLOCK_SIZE = 65_536

/** Yields the blocks of a file from its end to its beginning. Each block replaces the content of the one before. */
function* blocksFromEnd(file: string): Generator<{ chunk: Buffer; position: number }> {
  const fd = fs.openSync(file, 'r')
  try {
    const buffer = Buffer.alloc(BLOCK_SIZE)
    for (let position = fs.fstatSync(fd).size; position > 0; ) {
      const length = Math.min(BLOCK_SIZE, position)
      position -= length
      fs.readSync(fd, buffer, 0, length, position)
      yield { chunk: buffer.subarray(0, length), position }
    }
  } finally {
    fs.closeSync(fd)
  }
}
