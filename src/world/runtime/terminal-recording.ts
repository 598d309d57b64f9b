import fs from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { KeyedMutex } from '../../lib/keyed-mutex.ts'
import type { AttemptRef } from '../../ports/runtime.ts'
import { readPart } from '../../os/files/file-io.ts'
import { type AttemptFolder, attemptFolder } from '../../state/session-folder.ts'
import type { Home } from '../../state/home.ts'
import { type ProcessId, checkLiveness, signalProcess } from '../../os/process/processes.ts'
import { CLOSING_MARK, readExit, readRecorder, readStarted } from '../../state/shim-records.ts'
import type { Panes } from './panes.ts'
import { renderTerminalText } from '../../lib/text/strip-terminal-controls.ts'

/**
 * Number of polls without a new byte after which `drain` stops waiting, 20 ms apart: for a forced and for a usual
 * sweep.
 */
const DRAIN_POLLS = { hurried: 25, usual: 100 }
/** Number of polls for the start of a new recorder, 20 ms apart. */
const START_POLLS = 50

/** Keeps the recorded output of terminals complete. */
export class TerminalRecording {
  readonly #home: Home
  readonly #panes: Panes
  /** Allows one repair of a gap at a time; two would append the missing text twice. */
  readonly #mutex = new KeyedMutex()
  readonly #active = new Map<string, AttemptFolder>()

  constructor(home: Home, panes: Panes) {
    this.#home = home
    this.#panes = panes
  }

  /** Starts or stops noticing that the recorder of this attempt has died. */
  watch(ref: AttemptRef, on: boolean): void {
    const folder = this.#folder(ref)
    if (on) this.#active.set(folder.root, folder)
    else this.#active.delete(folder.root)
  }

  /** Returns true if a recorder has died while its terminal lives. Costs a few reads for each terminal. */
  hasGap(): boolean {
    return [...this.#active.values()].some(isRecordingInterrupted)
  }

  /** Fills the gap that a killed recorder leaves, as far back as the terminal's scrollback reaches. */
  async repair(ref: AttemptRef): Promise<void> {
    const folder = this.#folder(ref)
    this.watch(ref, true)
    await this.#mutex.run(folder.root, async () => {
      if (isRecordingInterrupted(folder)) await this.#restartRecording(ref, folder)
    })
  }

  /** Starts a new recorder. It waits until the gap is filled, so that the output stays in order. */
  async #restartRecording(ref: AttemptRef, folder: AttemptFolder): Promise<void> {
    const formerRecorder = endRecorder(folder)
    fs.writeFileSync(folder.gap, '', { mode: 0o600 })
    const history = await this.#panes.restartRecording(ref)
    if (history !== null) appendMissingText(folder, history)
    fs.rmSync(folder.gap)
    if (history === null) return this.watch(ref, false) // The terminal is gone, so there is nothing to record.
    for (let poll = 0; poll < START_POLLS && readRecorder(folder)?.pid === formerRecorder?.pid; poll++) await pause(20)
  }

  /**
   * Waits until the recorder has written the shim's closing mark, which follows the last byte, and removes the mark.
   */
  async drain(ref: AttemptRef, patience: keyof typeof DRAIN_POLLS): Promise<void> {
    const folder = this.#folder(ref)
    await this.#mutex.run(folder.root, async () => {
      // Without this file, the next supervisor would wait for a mark that is already removed.
      if (fs.existsSync(folder.drained)) return
      const isWhole = await this.#drain(ref, folder, DRAIN_POLLS[patience])
      if (isWhole || patience === 'usual') fs.writeFileSync(folder.drained, '', { mode: 0o600 })
    })
  }

  /** Returns false if the closing mark did not arrive in time. */
  async #drain(ref: AttemptRef, folder: AttemptFolder, polls: number): Promise<boolean> {
    const mark = Buffer.from(CLOSING_MARK)
    let size = -1
    for (let idle = 0; idle < polls; idle++) {
      const recorder = readRecorder(folder)
      const now = fs.statSync(folder.stdout, { throwIfNoEntry: false })?.size ?? 0
      const tail = readPart(folder.stdout, Math.max(0, now - mark.length), mark.length)
      if (tail.equals(mark)) {
        fs.truncateSync(folder.stdout, now - mark.length)
        return true
      }
      if (recorder === null && readStarted(folder) === null) return true
      if (recorder !== null && hasStopped(recorder, folder)) return await this.#fillGap(ref, folder)
      if (now !== size) idle = 0
      size = now
      await pause(20)
    }
    // On a full disk the recorder could write neither its identity nor the output.
    return readRecorder(folder) === null && (await this.#fillGap(ref, folder))
  }

  /** Fills the gap after the program has ended. No recorder follows. */
  async #fillGap(ref: AttemptRef, folder: AttemptFolder): Promise<true> {
    endRecorder(folder)
    appendMissingText(folder, await this.#panes.captureHistory(ref))
    fs.rmSync(folder.gap, { force: true })
    return true
  }

  #folder(ref: AttemptRef): AttemptFolder {
    return attemptFolder(this.#home, ref.sessionId, ref.attempt)
  }
}

function isRecordingInterrupted(folder: AttemptFolder): boolean {
  const recorder = readRecorder(folder)
  return recorder !== null && hasStopped(recorder, folder) && readExit(folder) === null
}

/** Returns true if the recorder is dead, or waits at a gap whose repair a dead supervisor has left unfinished. */
function hasStopped(recorder: ProcessId, folder: AttemptFolder): boolean {
  return checkLiveness(recorder) === 'dead' || fs.existsSync(folder.gap)
}

/** Kills the recorder. The terminal's scrollback still holds the output that a waiting recorder has not written. */
function endRecorder(folder: AttemptFolder): ProcessId | null {
  const recorder = readRecorder(folder)
  if (recorder !== null) signalProcess(recorder, 'SIGKILL')
  return recorder
}

function appendMissingText({ stdout }: AttemptFolder, history: readonly string[]): void {
  const text = findMissingText(stdout, history)
  if (text !== '') fs.appendFileSync(stdout, text)
}

/** Removes the closing mark from the end of the bytes, also if only its first bytes have arrived. */
export function stripClosingMark(bytes: Buffer): Buffer {
  for (let length = Math.min(CLOSING_MARK.length, bytes.length); length > 0; length--) {
    if (bytes.subarray(-length).toString('latin1') === CLOSING_MARK.slice(0, length)) return bytes.subarray(0, -length)
  }
  return bytes
}

/** Number of last recorded lines that must reappear in the terminal's scrollback to locate the start of the gap. */
const ANCHOR_LINES = 3
const TAIL_BYTES = 65_536

/** Returns the text that the terminal's scrollback holds and the recording lacks, for appending to the recording. */
export function findMissingText(recording: string, history: readonly string[]): string {
  const { whole: wholeLines, torn: partialLine } = readRecordedTail(recording)
  const rest = findLinesAfter(wholeLines.slice(-ANCHOR_LINES), history) ?? history
  const [first, ...others] = rest
  if (first === undefined || partialLine === '') return joinLines(rest)
  // The recorder may have died in the middle of a line, or the program has not ended the line yet.
  if (!first.startsWith(partialLine.trimEnd())) return `\r\n${joinLines(rest)}`
  const end = first.slice(partialLine.length)
  return end === '' && others.length === 0 ? '' : joinLines([end, ...others])
}

function joinLines(texts: readonly string[]): string {
  return texts.map(text => `${text}\r\n`).join('')
}

/** Returns the lines after the last occurrence of the anchor; undefined if the history does not contain it. */
function findLinesAfter(anchor: readonly string[], history: readonly string[]): readonly string[] | undefined {
  if (anchor.length === 0) return history.filter(line => line.trim() !== '')
  for (let end = history.length; end >= anchor.length; end--) {
    const isHere = anchor.every((line, i) => history[end - anchor.length + i]?.trimEnd() === line)
    if (isHere) return history.slice(end)
  }
  return undefined
}

/** Returns the last complete lines that are not empty, and the start of an unfinished line. */
function readRecordedTail(recording: string): { whole: string[]; torn: string } {
  const size = fs.statSync(recording).size
  const fd = fs.openSync(recording, 'r')
  try {
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES))
    fs.readSync(fd, bytes, 0, bytes.length, size - bytes.length)
    const texts = renderTerminalText(bytes.toString(), { colour: false }).split('\n')
    const partialLine = texts.pop() ?? ''
    return { whole: texts.map(text => text.trimEnd()).filter(text => text !== ''), torn: partialLine }
  } finally {
    fs.closeSync(fd)
  }
}
