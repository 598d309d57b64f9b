import fs from 'node:fs'
import { promisify } from 'node:util'
import type { Mask } from '../../lib/mask/mask.ts'
import type { KeyState } from '../../lib/mask/private-key.ts'
import { readable } from '../../lib/terminal-text.ts'
import { draftIn, replaceIn } from '../os/files.ts'
import type { Home } from '../os/home.ts'
import { archive, hasArchive } from './archive.ts'
import { beginning, type LogPlace, nextPiece, type Told } from './next-piece.ts'
import type { Folder } from '../os/open-folder.ts'
import { openOwn } from './own-file.ts'

const LOG = 'session.log'
/** Large enough that few sessions ever have a second file, and small enough to be opened in an editor. */
const LARGEST = 16 * 1_048_576
/** Bytes at the end of the log by which it is known again. */
const TAIL = 64

/** How far the log has been written. Kept where whoever works in the project cannot reach it. */
export interface LogNote {
  /** Full files that were put away, each compressed. */
  readonly archives: number
  /** What the present file begins with, and within or outside of a private key. */
  readonly start: LogPlace
  readonly startsIn: KeyState
  /** What follows its last byte, and how long it is up to there. */
  readonly at: LogPlace
  readonly isIn: KeyState
  readonly length: number
  /** Its last bytes, by which it is known again. */
  readonly tail: string
  readonly isMidLine: boolean
}

export function newLog(told: Told): LogNote {
  const at = beginning(told)
  return { archives: 0, start: at, startsIn: 'outside', at, isIn: 'outside', length: 0, tail: '', isMidLine: false }
}

/** What a log is written from and with. */
export interface LogWork {
  readonly home: Home
  readonly told: Told
  readonly mask: Mask
  readonly ending: AbortSignal
  /** Called when something was written, before anything else is done. */
  readonly save: (note: LogNote) => void
}

/**
 * Copies the next piece of what a session said into its log, readable and without secrets; null when there was nothing more.
 * What was written without being noted, because somebody was killed in between, is cut off first and written again.
 */
export async function copyPiece(folder: Folder, known: LogNote, work: LogWork): Promise<LogNote | null> {
  const { fd, note } = openLog(folder, known, work.told)
  try {
    const piece = nextPiece(work.home, work.told, note.at)
    if (piece === null) {
      if (note !== known) work.save(note)
      return null
    }
    const text = legible(piece.bytes)
    const isHeading = piece.next.attempt !== note.at.attempt
    const bytes = isHeading && note.isMidLine ? Buffer.concat([Buffer.from('\n'), text]) : text
    const isIn = work.mask.hideIn(bytes, isHeading ? 'outside' : note.isIn)
    await writeAll(fd, bytes, note.length)
    const isMidLine = bytes.length === 0 ? note.isMidLine : bytes.at(-1) !== 0x0a
    const tail = tailOf(note.tail, bytes)
    const written = { ...note, at: piece.next, isIn, length: note.length + bytes.length, tail, isMidLine }
    work.save(written)
    return written.length < LARGEST || isMidLine ? written : await putAway(folder, fd, written, work)
  } finally {
    await close(fd)
  }
}

/** The present file becomes an archive, and another one is begun. */
async function putAway(folder: Folder, fd: number, note: LogNote, { ending, save }: LogWork): Promise<LogNote> {
  await archive(folder, { fd, number: note.archives + 1, ending })
  const next = { ...note, archives: note.archives + 1, start: note.at, startsIn: note.isIn, length: 0, tail: '' }
  save(next)
  await rename(folder.at(draftIn(folder, LOG, '')), folder.at(LOG))
  return next
}

/** Opens the log at the length that was noted. One that was removed, cut short or replaced is written again. */
function openLog(folder: Folder, note: LogNote, told: Told): { fd: number; note: LogNote } {
  const fd = openOwn(folder, LOG)
  if (fd !== null && isThat(fd, note)) {
    if (fs.fstatSync(fd).size > note.length) fs.ftruncateSync(fd, note.length)
    return { fd, note }
  }
  if (fd !== null) fs.closeSync(fd)
  replaceIn(folder, LOG, '')
  const again = openOwn(folder, LOG)
  if (again === null) throw new Error(`another process removes ${LOG} as soon as oneshot writes it`)
  const isWhole = note.archives === 0 || hasArchive(folder, note.archives)
  const { start, startsIn } = note
  return {
    fd: again,
    note: isWhole ? { ...note, at: start, isIn: startsIn, length: 0, tail: '', isMidLine: false } : newLog(told),
  }
}

/** Whether it is at least as long as noted and ends there as it did; something else may have been put behind what was cut off. */
function isThat(fd: number, { length, tail }: LogNote): boolean {
  const end = Buffer.alloc(tail.length)
  return fs.readSync(fd, end, 0, end.length, length - end.length) === end.length && end.toString('latin1') === tail
}

function tailOf(before: string, bytes: Buffer): string {
  return (before + bytes.subarray(-TAIL).toString('latin1')).slice(-TAIL)
}

/** As a person would have read it. Most text is that already. */
function legible(bytes: Buffer): Buffer {
  return isPlain(bytes) ? bytes : Buffer.from(readable(bytes.toString(), { colour: false }))
}

function isPlain(bytes: Buffer): boolean {
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number
    if ((byte < 0x20 && byte !== 0x0a && byte !== 0x09) || byte === 0x7f) return false
  }
  return true
}

// Not at once, as with everything else that is small: a disk with too much to do makes its writers wait, and giving back the
// room of a large file takes it a while.
const write = promisify(fs.write)
const rename = promisify(fs.rename)
const close = promisify(fs.close)

async function writeAll(fd: number, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await write(fd, bytes, done, bytes.length - done, position + done)).bytesWritten
  }
}
