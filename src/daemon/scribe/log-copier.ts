import fs from 'node:fs'
import type { Session } from '../../core/session.ts'
import type { Mask } from '../../lib/mask/mask.ts'
import type { Duration } from '../../lib/time.ts'
import { attemptFolder } from '../../world/os/folders.ts'
import { whenGrown } from '../../world/os/when-grown.ts'
import { copyPiece, type LogNote, newLog } from '../../world/project/session-log.ts'
import { folderOf, type Studio, toldBy } from './studio.ts'

/** Whoever follows a log with `tail -f` notices no more than this; a program that writes all the time is not looked at more often. */
const PAUSE: Duration = 500

/** What a copier needs of the session it works for. */
export interface LogDesk {
  readonly session: () => Session
  readonly mask: () => Mask
  readonly note: () => LogNote | null
  readonly save: (note: LogNote) => void
  /** Told of what went wrong. */
  readonly fail: (cause: unknown) => void
  readonly ending: AbortSignal
}

/** Keeps a session's log up to date, piece by piece in the background. */
export class LogCopier {
  readonly #studio: Studio
  readonly #desk: LogDesk
  #running: Promise<boolean> | undefined
  #isWanted = false
  /** How large the output was when it was last read. */
  #seen = -1
  #lastAt = Number.NEGATIVE_INFINITY
  #cancel: () => void = () => undefined
  #leave: () => void = () => undefined

  constructor(studio: Studio, desk: LogDesk) {
    this.#studio = studio
    this.#desk = desk
  }

  /** Something may be there to be copied. */
  wake(): void {
    this.#isWanted = true
    if (this.#running !== undefined || this.#desk.ending.aborted) return
    const { clock } = this.#studio
    this.#cancel()
    this.#cancel = clock.ring(Math.max(clock.now(), this.#lastAt + PAUSE), () => void this.copyAll())
  }

  /** So much is written by now: not every file system tells of changes. */
  check(written: number): void {
    if (written !== this.#seen && this.#output() !== null) this.wake()
  }

  /** Copies all there is, now; resolves when nothing is left, or with false when it could not be done. */
  async copyAll(): Promise<boolean> {
    this.#isWanted = true
    this.#running ??= this.#copyWhileWanted().finally(() => {
      this.#running = undefined
      this.#lastAt = this.#studio.clock.now()
      if (this.#isWanted) this.wake()
    })
    return this.#running
  }

  /** Resolves when nothing is written any more. */
  async close(): Promise<void> {
    this.#cancel()
    this.#leave()
    await this.#running
  }

  async #copyWhileWanted(): Promise<boolean> {
    this.#cancel()
    this.#leave()
    try {
      while (this.#isWanted && !this.#desk.ending.aborted) {
        this.#isWanted = false
        const file = this.#output()
        this.#seen = file === null ? 0 : sizeOf(file)
        while (!this.#desk.ending.aborted && (await this.#studio.copying.turn(() => this.#copyOne())));
        if (file !== null && !this.#isWanted) this.#leave = whenGrown(file, this.#seen, () => this.wake())
      }
      return !this.#desk.ending.aborted
    } catch (cause) {
      this.#isWanted = false
      this.#seen = -1
      this.#desk.fail(cause)
      return false
    }
  }

  /** The file that grows without anybody telling: the output of a program whose words are nothing to us. */
  #output(): string | null {
    const session = this.#desk.session()
    const { transcript, isOver } = toldBy(session, this.#studio)
    return transcript !== null || isOver
      ? null
      : attemptFolder(this.#studio.home, session.spec.id, session.attempt).stdout
  }

  async #copyOne(): Promise<boolean> {
    const { home, store } = this.#studio
    const { ending, save } = this.#desk
    const session = this.#desk.session()
    store.assertEpoch()
    const folder = folderOf(session, this.#studio)
    if (folder === null) return false
    try {
      const told = toldBy(session, this.#studio)
      const work = { home, told, ending, mask: this.#desk.mask(), save }
      return (await copyPiece(folder, this.#desk.note() ?? newLog(told), work)) !== null
    } finally {
      folder.close()
    }
  }
}

function sizeOf(file: string): number {
  return fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
