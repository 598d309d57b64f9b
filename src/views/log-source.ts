import fs from 'node:fs'
import type { SessionView } from '../api/contract/responses.ts'
import type { Instant } from '../lib/time.ts'
import { attemptFolder, sessionFolder } from '../state/session-folder.ts'
import type { Home } from '../state/home.ts'

/** A file with some of a session's output, and the record of when it had which length. */
export interface LogSource {
  readonly file: string
  readonly times: string
  /** Our own telling of what was said, rather than the program's bytes. */
  readonly isTranscript: boolean
}

/**
 * Where a session's log lies. Agents whose events we read have one transcript; of everything else, and for `raw`, the
 * program's own output is the log, attempt after attempt.
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

/** How much a session has said so far: what is said from now on comes after it. */
export function readTranscriptLength(home: Home, id: string): number {
  return fs.statSync(sessionFolder(home, id).transcript, { throwIfNoEntry: false })?.size ?? 0
}

/** The offset at which what was written since `since` begins, as exactly as lengths were noted down. */
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

/** The offset of the last `count` lines of a file that ends at `end`; how many lines were found tells whether to go on. */
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
