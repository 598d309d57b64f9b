import fs from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { KeyedMutex } from '../../lib/keyed-mutex.ts'
import type { AttemptRef } from '../../ports/runtime.ts'
import { readPart } from '../../os/files/file-io.ts'
import { type AttemptFolder, attemptFolder } from '../../state/session-folder.ts'
import type { Home } from '../../state/home.ts'
import { type ProcessId, checkLiveness, signalProcess } from '../../os/process/processes.ts'
import { CLOSING_MARK, readExit, readRecorder, readStarted } from '../../state/attempt-files.ts'
import type { Panes } from './panes.ts'
import { renderTerminalText } from '../../lib/text/terminal-text.ts'

/** Looks without a new byte after which we no longer wait for the last one, 20 ms apart; in a hurry, and usually. */
const DRAIN_POLLS = { hurried: 25, usual: 100 }
/** Looks whether a new recorder has begun, 20 ms apart. */
const START_POLLS = 50

/** What terminals said, as the recorder wrote it down. */
export class TerminalRecording {
  readonly #home: Home
  readonly #panes: Panes
  /** A gap is filled by one at a time, or it would be filled twice. */
  readonly #mutex = new KeyedMutex()
  readonly #active = new Map<string, AttemptFolder>()

  constructor(home: Home, panes: Panes) {
    this.#home = home
    this.#panes = panes
  }

  /** From now on a death of its recorder is noticed; or no longer. */
  watch(ref: AttemptRef, on: boolean): void {
    const folder = this.#folder(ref)
    if (on) this.#active.set(folder.root, folder)
    else this.#active.delete(folder.root)
  }

  /** Whether a recorder has died under its terminal. Costs a few reads for each terminal. */
  hasGap(): boolean {
    return [...this.#active.values()].some(isRecordingInterrupted)
  }

  /** A recorder that was killed leaves a gap; the terminal's own memory fills it as far as it reaches. */
  async repair(ref: AttemptRef): Promise<void> {
    const folder = this.#folder(ref)
    this.watch(ref, true)
    await this.#mutex.run(folder.root, async () => {
      if (isRecordingInterrupted(folder)) await this.#restartRecording(ref, folder)
    })
  }

  /** The next recorder waits at the gap until it is filled, so that all stays in order. */
  async #restartRecording(ref: AttemptRef, folder: AttemptFolder): Promise<void> {
    const formerRecorder = endRecorder(folder)
    fs.writeFileSync(folder.gap, '', { mode: 0o600 })
    const history = await this.#panes.restartRecording(ref)
    if (history !== null) appendMissingText(folder, history)
    fs.rmSync(folder.gap)
    if (history === null) return this.watch(ref, false) // Its terminal is gone: there is nothing to record any more.
    for (let poll = 0; poll < START_POLLS && readRecorder(folder)?.pid === formerRecorder?.pid; poll++) await pause(20)
  }

  /** Waits until the recorder has written the last byte: the shim's closing mark is behind it. Then takes the mark away. */
  async drain(ref: AttemptRef, patience: keyof typeof DRAIN_POLLS): Promise<void> {
    const folder = this.#folder(ref)
    await this.#mutex.run(folder.root, async () => {
      if (fs.existsSync(folder.drained)) return // Else a supervisor that comes back would wait for a mark that is gone.
      const isWhole = await this.#drain(ref, folder, DRAIN_POLLS[patience])
      if (isWhole || patience === 'usual') fs.writeFileSync(folder.drained, '', { mode: 0o600 })
    })
  }

  /** False when it was waited for in vain. */
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
    // On a full disk it could not even write down who it is, let alone what it heard.
    return readRecorder(folder) === null && (await this.#fillGap(ref, folder))
  }

  /** For the last time: nothing is recorded after it. */
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

/** It is dead, or waits at a gap that whoever was filling it did not live to fill. */
function hasStopped(recorder: ProcessId, folder: AttemptFolder): boolean {
  return checkLiveness(recorder) === 'dead' || fs.existsSync(folder.gap)
}

/** What one that waits has not written is still in the terminal's memory. */
function endRecorder(folder: AttemptFolder): ProcessId | null {
  const recorder = readRecorder(folder)
  if (recorder !== null) signalProcess(recorder, 'SIGKILL')
  return recorder
}

function appendMissingText({ stdout }: AttemptFolder, history: readonly string[]): void {
  const text = findMissingText(stdout, history)
  if (text !== '') fs.appendFileSync(stdout, text)
}

/** Holds the mark back, also while it is just being recorded. */
export function stripClosingMark(bytes: Buffer): Buffer {
  for (let length = Math.min(CLOSING_MARK.length, bytes.length); length > 0; length--) {
    if (bytes.subarray(-length).toString('latin1') === CLOSING_MARK.slice(0, length)) return bytes.subarray(0, -length)
  }
  return bytes
}

/** How many of the recording's last lines must be found again in the terminal's memory to know where the gap begins. */
const ANCHOR_LINES = 3
const TAIL_BYTES = 65_536

/** What the terminal remembers and the recording does not have, after the recorder had died, to be written behind it. */
export function findMissingText(recording: string, history: readonly string[]): string {
  const { whole: wholeLines, torn: partialLine } = readRecordedTail(recording)
  const rest = findLinesAfter(wholeLines.slice(-ANCHOR_LINES), history) ?? history
  const [first, ...others] = rest
  if (first === undefined || partialLine === '') return joinLines(rest)
  // The recorder may have died in the middle of a line; or the line has no end yet.
  if (!first.startsWith(partialLine.trimEnd())) return `\r\n${joinLines(rest)}`
  const end = first.slice(partialLine.length)
  return end === '' && others.length === 0 ? '' : joinLines([end, ...others])
}

function joinLines(texts: readonly string[]): string {
  return texts.map(text => `${text}\r\n`).join('')
}

/** What follows the last place where these lines stand; undefined when they stand nowhere. */
function findLinesAfter(anchor: readonly string[], history: readonly string[]): readonly string[] | undefined {
  if (anchor.length === 0) return history.filter(line => line.trim() !== '')
  for (let end = history.length; end >= anchor.length; end--) {
    const isHere = anchor.every((line, i) => history[end - anchor.length + i]?.trimEnd() === line)
    if (isHere) return history.slice(end)
  }
  return undefined
}

/** The last lines that are not empty, and the beginning of one that has no end. */
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
