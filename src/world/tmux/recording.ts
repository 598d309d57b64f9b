import fs from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { AttemptRef } from '../../ports/work.ts'
import { readPart } from '../os/files.ts'
import { type AttemptFolder, attemptFolder } from '../os/folders.ts'
import type { Home } from '../os/home.ts'
import { lives } from '../os/processes.ts'
import { CLOSING_MARK, readExit, readRecorder, readStarted } from '../os/spool.ts'
import { missingText } from './missing-text.ts'
import type { Panes } from './panes.ts'

/** Looks without a new byte after which we no longer wait for the last one, 20 ms apart. */
const DRAIN_LOOKS = 100

/** What terminals said, as the recorder wrote it down. */
export class Recording {
  readonly #home: Home
  readonly #panes: Panes

  constructor(home: Home, panes: Panes) {
    this.#home = home
    this.#panes = panes
  }

  /** A recorder that was killed leaves a gap; the terminal's own memory fills it as far as it reaches. */
  async mend(ref: AttemptRef): Promise<void> {
    const folder = this.#folder(ref)
    const recorder = readRecorder(folder)
    if (recorder === null || readExit(folder) !== null || lives(recorder) !== 'dead') return
    await this.#fillGap(ref)
    await this.#panes.restartRecorder(ref)
  }

  /** Waits until the recorder has written the last byte: the shim's closing mark is behind it. Then takes the mark away. */
  async drain(ref: AttemptRef): Promise<void> {
    const folder = this.#folder(ref)
    const mark = Buffer.from(CLOSING_MARK)
    let size = -1
    for (let idle = 0; idle < DRAIN_LOOKS; idle++) {
      const recorder = readRecorder(folder)
      const now = fs.statSync(folder.stdout, { throwIfNoEntry: false })?.size ?? 0
      const tail = readPart(folder.stdout, Math.max(0, now - mark.length), mark.length)
      if (tail.equals(mark)) return fs.truncateSync(folder.stdout, now - mark.length)
      if (recorder === null && readStarted(folder) === null) return
      if (recorder !== null && lives(recorder) === 'dead') return this.#fillGap(ref)
      if (now !== size) idle = 0
      size = now
      await pause(20)
    }
    // On a full disk it could not even write down who it is, let alone what it heard.
    if (readRecorder(folder) === null) await this.#fillGap(ref)
  }

  async #fillGap(ref: AttemptRef): Promise<void> {
    const { stdout } = this.#folder(ref)
    const text = missingText(stdout, await this.#panes.history(ref))
    if (text !== '') fs.appendFileSync(stdout, text)
  }

  #folder(ref: AttemptRef): AttemptFolder {
    return attemptFolder(this.#home, ref.sessionId, ref.attempt)
  }
}

/** Holds the mark back, also while it is just being recorded. */
export function withoutClosingMark(bytes: Buffer): Buffer {
  for (let length = Math.min(CLOSING_MARK.length, bytes.length); length > 0; length--) {
    if (bytes.subarray(-length).toString('latin1') === CLOSING_MARK.slice(0, length)) return bytes.subarray(0, -length)
  }
  return bytes
}
