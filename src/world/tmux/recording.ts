import fs from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { Turnstile } from '../../lib/turnstile.ts'
import type { AttemptRef } from '../../ports/work.ts'
import { readPart } from '../os/files.ts'
import { type AttemptFolder, attemptFolder } from '../os/folders.ts'
import type { Home } from '../os/home.ts'
import { lives, type ProcessId, signalProcess } from '../os/processes.ts'
import { CLOSING_MARK, readExit, readRecorder, readStarted } from '../os/spool.ts'
import { missingText } from './missing-text.ts'
import type { Panes } from './panes.ts'

/** Looks without a new byte after which we no longer wait for the last one, 20 ms apart; in a hurry, and usually. */
const DRAIN_LOOKS = { hurried: 25, usual: 100 }
/** Looks whether a new recorder has begun, 20 ms apart. */
const BEGIN_LOOKS = 50

/** What terminals said, as the recorder wrote it down. */
export class Recording {
  readonly #home: Home
  readonly #panes: Panes
  /** A gap is filled by one at a time, or it would be filled twice. */
  readonly #turnstile = new Turnstile()
  readonly #underWay = new Map<string, AttemptFolder>()

  constructor(home: Home, panes: Panes) {
    this.#home = home
    this.#panes = panes
  }

  /** From now on a death of its recorder is noticed; or no longer. */
  watch(ref: AttemptRef, on: boolean): void {
    const folder = this.#folder(ref)
    if (on) this.#underWay.set(folder.root, folder)
    else this.#underWay.delete(folder.root)
  }

  /** Whether a recorder has died under its terminal. Costs a few reads for each terminal. */
  hasGap(): boolean {
    return [...this.#underWay.values()].some(isGap)
  }

  /** A recorder that was killed leaves a gap; the terminal's own memory fills it as far as it reaches. */
  async mend(ref: AttemptRef): Promise<void> {
    const folder = this.#folder(ref)
    this.watch(ref, true)
    await this.#turnstile.pass(folder.root, async () => {
      if (isGap(folder)) await this.#recordAgain(ref, folder)
    })
  }

  /** The next recorder waits at the gap until it is filled, so that all stays in order. */
  async #recordAgain(ref: AttemptRef, folder: AttemptFolder): Promise<void> {
    const former = endRecorder(folder)
    fs.writeFileSync(folder.gap, '', { mode: 0o600 })
    const history = await this.#panes.recordAgain(ref)
    if (history !== null) fill(folder, history)
    fs.rmSync(folder.gap)
    if (history === null) return this.watch(ref, false) // Its terminal is gone: there is nothing to record any more.
    for (let look = 0; look < BEGIN_LOOKS && readRecorder(folder)?.pid === former?.pid; look++) await pause(20)
  }

  /** Waits until the recorder has written the last byte: the shim's closing mark is behind it. Then takes the mark away. */
  async drain(ref: AttemptRef, looks: keyof typeof DRAIN_LOOKS): Promise<void> {
    const folder = this.#folder(ref)
    await this.#turnstile.pass(folder.root, async () => {
      if (fs.existsSync(folder.drained)) return // Else a supervisor that comes back would wait for a mark that is gone.
      const isWhole = await this.#drain(ref, folder, DRAIN_LOOKS[looks])
      if (isWhole || looks === 'usual') fs.writeFileSync(folder.drained, '', { mode: 0o600 })
    })
  }

  /** False when it was waited for in vain. */
  async #drain(ref: AttemptRef, folder: AttemptFolder, looks: number): Promise<boolean> {
    const mark = Buffer.from(CLOSING_MARK)
    let size = -1
    for (let idle = 0; idle < looks; idle++) {
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
    fill(folder, await this.#panes.history(ref))
    fs.rmSync(folder.gap, { force: true })
    return true
  }

  #folder(ref: AttemptRef): AttemptFolder {
    return attemptFolder(this.#home, ref.sessionId, ref.attempt)
  }
}

function isGap(folder: AttemptFolder): boolean {
  const recorder = readRecorder(folder)
  return recorder !== null && hasStopped(recorder, folder) && readExit(folder) === null
}

/** It is dead, or waits at a gap that whoever was filling it did not live to fill. */
function hasStopped(recorder: ProcessId, folder: AttemptFolder): boolean {
  return lives(recorder) === 'dead' || fs.existsSync(folder.gap)
}

/** What one that waits has not written is still in the terminal's memory. */
function endRecorder(folder: AttemptFolder): ProcessId | null {
  const recorder = readRecorder(folder)
  if (recorder !== null) signalProcess(recorder, 'SIGKILL')
  return recorder
}

function fill({ stdout }: AttemptFolder, history: readonly string[]): void {
  const text = missingText(stdout, history)
  if (text !== '') fs.appendFileSync(stdout, text)
}

/** Holds the mark back, also while it is just being recorded. */
export function withoutClosingMark(bytes: Buffer): Buffer {
  for (let length = Math.min(CLOSING_MARK.length, bytes.length); length > 0; length--) {
    if (bytes.subarray(-length).toString('latin1') === CLOSING_MARK.slice(0, length)) return bytes.subarray(0, -length)
  }
  return bytes
}
