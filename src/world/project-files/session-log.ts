import fs from 'node:fs'
import { promisify } from 'node:util'
import { boolean, count, object, oneOf, type Parser, stringThat } from '../../lib/codec.ts'
import type { Mask } from '../../lib/mask/mask.ts'
import type { KeyState } from '../../lib/mask/private-key.ts'
import { renderTerminalText } from '../../lib/text/strip-terminal-controls.ts'
import { renameOver, replaceIn, temporaryName, writeTemporary } from '../../os/files/file-io.ts'
import type { Home } from '../../state/home.ts'
import { type LogPosition, type OutputState, readLogChunk, startPosition } from './read-log-chunk.ts'
import type { FolderHandle } from '../../os/files/folder-handle.ts'
import { openSafely } from './safe-file.ts'
import { pipeline } from 'node:stream/promises'
import zlib from 'node:zlib'

const LOG_FILE = 'session.log'
/** Bytes: large enough that few sessions ever have a second file, and small enough for an editor. */
const MAX_LOG_SIZE = 16 * 1_048_576
/** Number of bytes at the end of the log by which the writer recognizes it. */
const TAIL_LENGTH = 64

/** Progress of the log. It is stored outside of the project, where the agent does not reach it. */
export interface LogProgress {
  /** Number of full, compressed files. */
  readonly archives: number
  /** Source position at the start of the current file, and whether that is within a private key. */
  readonly start: LogPosition
  readonly startsIn: KeyState
  /** Source position after its last byte, and the file's length up to there. */
  readonly at: LogPosition
  readonly isIn: KeyState
  readonly length: number
  /** Its last bytes, by which the writer recognizes the file. */
  readonly tail: string
  readonly isMidLine: boolean
}

const parsePosition: Parser<LogPosition> = object({ attempt: count, offset: count })
const parseKeyState: Parser<KeyState> = oneOf('outside', 'begun', 'inside')

export const parseLogProgress: Parser<LogProgress> = object({
  archives: count,
  start: parsePosition,
  startsIn: parseKeyState,
  at: parsePosition,
  isIn: parseKeyState,
  length: count,
  tail: stringThat(text => text.length <= TAIL_LENGTH),
  isMidLine: boolean,
})

export function newLogProgress(output: OutputState): LogProgress {
  const at = startPosition(output)
  return { archives: 0, start: at, startsIn: 'outside', at, isIn: 'outside', length: 0, tail: '', isMidLine: false }
}

/** Source and tools of a copy. */
export interface LogCopyContext {
  readonly home: Home
  readonly told: OutputState
  readonly mask: Mask
  readonly ending: AbortSignal
  /** Stores the progress; called right after each write. */
  readonly save: (note: LogProgress) => void
}

/**
 * Copies the next chunk of a session's output into its log, readable and without secrets. Returns null if there was no
 * more. First truncates text that was written but not saved as progress, because the supervisor was killed in between,
 * and writes it again.
 */
export async function copyLogChunk(
  folder: FolderHandle,
  previous: LogProgress,
  context: LogCopyContext,
): Promise<LogProgress | null> {
  const { fd, note: progress } = openLog(folder, previous, context.told)
  try {
    const chunk = readLogChunk(context.home, context.told, progress.at)
    if (chunk === null) {
      if (progress !== previous) context.save(progress)
      return null
    }
    const text = toReadable(chunk.bytes)
    const isHeading = chunk.next.attempt !== progress.at.attempt
    const bytes = isHeading && progress.isMidLine ? Buffer.concat([Buffer.from('\n'), text]) : text
    const isIn = context.mask.maskBytes(bytes, isHeading ? 'outside' : progress.isIn)
    await writeAll(fd, bytes, progress.length)
    const isMidLine = bytes.length === 0 ? progress.isMidLine : bytes.at(-1) !== 0x0a
    const tail = appendToTail(progress.tail, bytes)
    const written = { ...progress, at: chunk.next, isIn, length: progress.length + bytes.length, tail, isMidLine }
    context.save(written)
    return written.length < MAX_LOG_SIZE || isMidLine ? written : await rotateLog(folder, fd, written, context)
  } finally {
    await close(fd)
  }
}

/** Turns the current file into an archive and starts a new one. */
async function rotateLog(
  folder: FolderHandle,
  fd: number,
  progress: LogProgress,
  { ending, save: saveProgress }: LogCopyContext,
): Promise<LogProgress> {
  await compressLog(folder, { fd, number: progress.archives + 1, ending })
  const next = {
    ...progress,
    archives: progress.archives + 1,
    start: progress.at,
    startsIn: progress.isIn,
    length: 0,
    tail: '',
  }
  saveProgress(next)
  await rename(folder.at(writeTemporary(folder, LOG_FILE, '')), folder.at(LOG_FILE))
  return next
}

/** Opens the log at the saved length. Starts it again if somebody has removed, shortened or replaced it. */
function openLog(folder: FolderHandle, progress: LogProgress, output: OutputState): { fd: number; note: LogProgress } {
  const fd = openSafely(folder, LOG_FILE)
  if (fd !== null && matchesTail(fd, progress)) {
    if (fs.fstatSync(fd).size > progress.length) fs.ftruncateSync(fd, progress.length)
    return { fd, note: progress }
  }
  if (fd !== null) fs.closeSync(fd)
  replaceIn(folder, LOG_FILE, '')
  const reopened = openSafely(folder, LOG_FILE)
  if (reopened === null) throw new Error(`another process removes ${LOG_FILE} as soon as oneshot writes it`)
  const isWhole = progress.archives === 0 || hasArchive(folder, progress.archives)
  const { start, startsIn } = progress
  return {
    fd: reopened,
    note: isWhole
      ? { ...progress, at: start, isIn: startsIn, length: 0, tail: '', isMidLine: false }
      : newLogProgress(output),
  }
}

/** Returns true if the file has the saved length and tail; somebody may have shortened it and appended other text. */
function matchesTail(fd: number, { length, tail }: LogProgress): boolean {
  const end = Buffer.alloc(tail.length)
  return fs.readSync(fd, end, 0, end.length, length - end.length) === end.length && end.toString('latin1') === tail
}

function appendToTail(before: string, bytes: Buffer): string {
  return (before + bytes.subarray(-TAIL_LENGTH).toString('latin1')).slice(-TAIL_LENGTH)
}

/** Renders the text for people. Most text needs no change. */
function toReadable(bytes: Buffer): Buffer {
  return isPlain(bytes) ? bytes : Buffer.from(renderTerminalText(bytes.toString(), { colour: false }))
}

function isPlain(bytes: Buffer): boolean {
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number
    if ((byte < 0x20 && byte !== 0x0a && byte !== 0x09) || byte === 0x7f) return false
  }
  return true
}

// Asynchronous, unlike the small writes elsewhere: a busy disk makes its writers wait, and freeing the space of a large
// file takes a while.
const write = promisify(fs.write)
const rename = promisify(fs.rename)
const close = promisify(fs.close)

async function writeAll(fd: number, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await write(fd, bytes, done, bytes.length - done, position + done)).bytesWritten
  }
}

/** Fast rather than small: endless output of a program is mostly repetitive. */
const GZIP_LEVEL = 1
const CHUNK_SIZE = 262_144

/**
 * Compresses a log into `session.log.N.gz`, off the main thread and atomically. A repeated call leads to the same file.
 */
async function compressLog(
  folder: FolderHandle,
  options: { fd: number; number: number; ending: AbortSignal },
): Promise<void> {
  const { fd, number, ending } = options
  const temporary = temporaryName('session.log.gz')
  const source = fs.createReadStream('', { fd, autoClose: false, start: 0, highWaterMark: CHUNK_SIZE })
  const target = fs.createWriteStream(folder.at(temporary), { flags: 'wx', mode: 0o600 })
  try {
    await pipeline(source, zlib.createGzip({ level: GZIP_LEVEL, chunkSize: CHUNK_SIZE }), target, { signal: ending })
    renameOver(folder, temporary, archiveName(number))
  } catch (cause) {
    fs.rmSync(folder.at(temporary), { force: true })
    throw cause
  }
}

function hasArchive(folder: FolderHandle, number: number): boolean {
  return fs.lstatSync(folder.at(archiveName(number)), { throwIfNoEntry: false })?.isFile() ?? false
}

function archiveName(number: number): string {
  return `session.log.${number}.gz`
}
