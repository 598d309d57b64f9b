import fs from 'node:fs'
import type { Session } from '../../core/session/session.ts'
import type { Mask } from '../../lib/mask/mask.ts'
import type { Duration } from '../../lib/time.ts'
import { attemptFolder } from '../../state/session-folder.ts'
import { onceFileGrows } from '../../os/files/file-watcher.ts'
import { copyLogChunk, type LogProgress, newLogProgress } from '../../world/project-files/session-log.ts'
import { openSessionFiles, type WriterContext, describeOutput } from './context.ts'

/**
 * Milliseconds between two copies. A reader with `tail -f` does not notice this delay, and a program that writes all
 * the time causes no more copies.
 */
const COPY_INTERVAL: Duration = 500

/** The session's functions that a copier needs. */
export interface LogCopierContext {
  readonly session: () => Session
  readonly mask: () => Mask
  readonly progress: () => LogProgress | null
  readonly saveProgress: (note: LogProgress) => void
  /** The copier calls this with each error. */
  readonly reportError: (cause: unknown) => void
  readonly ending: AbortSignal
}

/** Copies a session's log piece by piece in the background. */
export class LogCopier {
  readonly #writerContext: WriterContext
  readonly #context: LogCopierContext
  #running: Promise<boolean> | undefined
  #isRequested = false
  /** Size of the output at the last copy. */
  #copiedSize = -1
  #lastAt = Number.NEGATIVE_INFINITY
  #cancel: () => void = () => undefined
  #stopWatching: () => void = () => undefined

  constructor(writerContext: WriterContext, context: LogCopierContext) {
    this.#writerContext = writerContext
    this.#context = context
  }

  /** Schedules a copy. */
  schedule(): void {
    this.#isRequested = true
    if (this.#running !== undefined || this.#context.ending.aborted) return
    const { clock } = this.#writerContext
    this.#cancel()
    this.#cancel = clock.schedule(Math.max(clock.now(), this.#lastAt + COPY_INTERVAL), () => void this.copyAll())
  }

  /** Schedules a copy if the size has changed: not every file system reports changes. */
  scheduleIfGrown(size: number): void {
    if (size !== this.#copiedSize && this.#findOutput() !== null) this.schedule()
  }

  /** Copies all new output now. Resolves with true when nothing is left, and with false after a failure. */
  async copyAll(): Promise<boolean> {
    this.#isRequested = true
    this.#running ??= this.#copyWhileRequested().finally(() => {
      this.#running = undefined
      this.#lastAt = this.#writerContext.clock.now()
      if (this.#isRequested) this.schedule()
    })
    return this.#running
  }

  /** Resolves when no write is running any more. */
  async close(): Promise<void> {
    this.#cancel()
    this.#stopWatching()
    await this.#running
  }

  async #copyWhileRequested(): Promise<boolean> {
    this.#cancel()
    this.#stopWatching()
    try {
      while (this.#isRequested && !this.#context.ending.aborted) {
        this.#isRequested = false
        const file = this.#findOutput()
        this.#copiedSize = file === null ? 0 : fileSize(file)
        while (!this.#context.ending.aborted && (await this.#writerContext.copying.run(() => this.#copyChunk())));
        if (file !== null && !this.#isRequested)
          this.#stopWatching = onceFileGrows(file, this.#copiedSize, () => this.schedule())
      }
      return !this.#context.ending.aborted
    } catch (cause) {
      this.#isRequested = false
      this.#copiedSize = -1
      this.#context.reportError(cause)
      return false
    }
  }

  /**
   * Returns the output file of a program whose output oneshot does not parse, because no signal announces its growth;
   * null for other sessions.
   */
  #findOutput(): string | null {
    const session = this.#context.session()
    const { transcript, isOver } = describeOutput(session, this.#writerContext)
    return transcript !== null || isOver
      ? null
      : attemptFolder(this.#writerContext.home, session.spec.id, session.attempt).stdout
  }

  async #copyChunk(): Promise<boolean> {
    const { home, store } = this.#writerContext
    const { ending, saveProgress: save } = this.#context
    const session = this.#context.session()
    store.assertEpoch()
    const folder = openSessionFiles(session, this.#writerContext)
    if (folder === null) return false
    try {
      const output = describeOutput(session, this.#writerContext)
      const copyContext = { home, told: output, ending, mask: this.#context.mask(), save }
      return (await copyLogChunk(folder, this.#context.progress() ?? newLogProgress(output), copyContext)) !== null
    } finally {
      folder.close()
    }
  }
}

function fileSize(file: string): number {
  return fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
