import { readPart } from '../../os/files/file-io.ts'
import { type SessionId, attemptFolder, sessionFolder } from '../../state/session-folder.ts'
import type { Home } from '../../state/home.ts'

/** Position up to which a session's output was read. */
export interface LogPosition {
  /** 0 for a transcript, which all attempts share. */
  readonly attempt: number
  readonly offset: number
}

/** The available output of a session. */
export interface OutputState {
  readonly id: SessionId
  /** The current attempt. */
  readonly attempt: number
  /**
   * Recorded length of the transcript: a supervisor may still truncate the rest. Null if the log comes from the output.
   */
  readonly transcript: number | null
  /** True if no output follows for now. */
  readonly isOver: boolean
}

export interface LogChunk {
  readonly bytes: Buffer
  /** Start of the next chunk. */
  readonly next: LogPosition
}

/** oneshot reads, masks and writes a chunk of this size in a few milliseconds, whatever it contains. */
const MAX_CHUNK_SIZE = 131_072
/** The reader does not wait for the end of a longer line. */
const MAX_LINE_LENGTH = 65_536

/**
 * Returns the next chunk of a session's output: whole lines, or a part of a line that is very long or will not end.
 * Inserts a heading line between two attempts. Returns null if there is no more output for now.
 */
export function readLogChunk(home: Home, output: OutputState, at: LogPosition): LogChunk | null {
  const { transcript, attempt } = output
  const isPast = transcript === null && at.attempt < attempt
  const file =
    transcript === null ? attemptFolder(home, output.id, at.attempt).stdout : sessionFolder(home, output.id).transcript
  const bytes = readPart(
    file,
    at.offset,
    Math.min(MAX_CHUNK_SIZE, (transcript ?? Number.POSITIVE_INFINITY) - at.offset),
  )
  const isLast = (isPast || output.isOver) && bytes.length < MAX_CHUNK_SIZE
  const length = isLast ? bytes.length : endOfLines(bytes)
  if (length > 0) return { bytes: bytes.subarray(0, length), next: { ...at, offset: at.offset + length } }
  return isPast
    ? { bytes: Buffer.from(`── attempt ${at.attempt + 1}\n`), next: { attempt: at.attempt + 1, offset: 0 } }
    : null
}

/** Returns the start of the first chunk. */
export function startPosition({ transcript }: OutputState): LogPosition {
  return { attempt: transcript === null ? 1 : 0, offset: 0 }
}

function endOfLines(bytes: Buffer): number {
  const end = bytes.lastIndexOf(0x0a) + 1
  if (end > 0) return end
  return bytes.length < MAX_LINE_LENGTH ? 0 : findCut(bytes)
}

/**
 * Finds a place to cut: if possible not within a word that may be a secret, nor between a name and its value; never
 * within a character.
 */
function findCut(bytes: Buffer): number {
  const tail = bytes.subarray(-4_096)
  const start = bytes.length - tail.length
  const text = tail.toString('latin1')
  for (const separator of [/[\s,;)}\]](?=[^\s,;)}\]]*$)/, /[^\w+/=.~%-](?=[\w+/=.~%-]*$)/]) {
    const at = text.search(separator)
    if (at >= 0 && text.charCodeAt(at) < 0x80) return start + at + 1
  }
  let end = bytes.length
  while (end > 1 && ((bytes[end - 1] as number) & 0xc0) === 0x80) end--
  return end > 1 ? end - 1 : bytes.length
}
