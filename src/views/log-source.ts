import fs from 'node:fs'
import type { SessionView } from '../api/contract/responses.ts'
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
export function readTranscriptLength(home: Home, id: string): number {
  return fs.statSync(sessionFolder(home, id).transcript, { throwIfNoEntry: false })?.size ?? 0
}

/** Returns the offset of the output since `since`, as precisely as the recorded lengths allow. */
export function findOffsetSince(source: LogSource, since: Instant): number {
  const written = fs.statSync(source.file)
  if (written.mtimeMs < since) return written.size
  let offset = 0
  for (const line of readOrDefault(source.times, '').split('\n')) {
    const [at, length] = line.split(' ').map(Number)
    if (at !== undefined && length !== undefined && at <= since) offset = length
  }
  return offset
}

/**
 * Returns the offset of the last `count` lines of a file, and the number of lines found, by which the caller decides to
 * search earlier files.
 */
export function findOffsetOfLastLines(file: string, count: number): { offset: number; found: number } {
  const fd = fs.openSync(file, 'r')
  try {
    let position = fs.fstatSync(fd).size
    const size = position
    let found = 0
    const chunk = Buffer.alloc(65_536)
    while (position > 0) {
      const length = Math.min(chunk.length, position)
      position -= length
      fs.readSync(fd, chunk, 0, length, position)
      for (let i = length - 1; i >= 0; i--) {
        if (chunk[i] !== 0x0a || position + i === size - 1) continue
        if (++found === count) return { offset: position + i + 1, found }
      }
    }
    return { offset: 0, found: size === 0 ? 0 : found + 1 }
  } finally {
    fs.closeSync(fd)
  }
}

function readOrDefault(file: string, fallback: string): string {
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : fallback
}
