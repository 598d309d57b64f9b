import { readPart } from '../../os/files/file-io.ts'
import { attemptFolder, sessionFolder } from '../../state/session-folder.ts'
import type { Home } from '../../state/home.ts'

/** How far what a session said was read. */
export interface LogPosition {
  /** 0 for a transcript, which all attempts share. */
  readonly attempt: number
  readonly offset: number
}

/** What there is to be read of a session. */
export interface OutputState {
  readonly id: string
  /** The current attempt. */
  readonly attempt: number
  /** How long the transcript is, as recorded: what is behind that may still be cut off. Null where the output is the log. */
  readonly transcript: number | null
  /** Nothing is added to it for now. */
  readonly isOver: boolean
}

export interface LogChunk {
  readonly bytes: Buffer
  /** Where the one after it begins. */
  readonly next: LogPosition
}

/** One is read, cleaned and written in a few milliseconds, whatever is in it. */
const MAX_CHUNK_SIZE = 131_072
/** A line longer than this is not waited for. */
const MAX_LINE_LENGTH = 65_536

/**
 * The next piece of what a session said: whole lines, or what there is of one that is very long or will not be ended any more.
 * Between two attempts there is a line of ours. Null when there is nothing more for now.
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

/** Where the first piece begins. */
export function startPosition({ transcript }: OutputState): LogPosition {
  return { attempt: transcript === null ? 1 : 0, offset: 0 }
}

function endOfLines(bytes: Buffer): number {
  const end = bytes.lastIndexOf(0x0a) + 1
  if (end > 0) return end
  return bytes.length < MAX_LINE_LENGTH ? 0 : findCut(bytes)
}

/** Not within a word that may be a secret, if that can be helped, nor between a name and its value, nor within a character. */
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
