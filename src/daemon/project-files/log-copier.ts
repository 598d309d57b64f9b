import fs from 'node:fs'
import type { Session } from '../../core/session/session-state.ts'
import type { Mask } from '../../lib/mask/mask.ts'
import { attemptFolder } from '../../state/session-folder.ts'
import { onceFileGrows } from '../../os/files/file-watcher.ts'
import { copyLogChunk, type LogProgress, newLogProgress } from '../../world/project-files/session-log.ts'
import { openSessionFiles, type WriterContext, describeOutput } from './context.ts'

/** The session's functions that a copier needs. */
export interface LogCopierContext {
  readonly session: () => Session
  readonly mask: () => Mask
  readonly progress: () => LogProgress | null
  readonly saveProgress: (note: LogProgress) => void
  /** The copier calls this when the output has grown after a copy. */
  readonly onGrowth: () => void
  readonly ending: AbortSignal
}

/** Copies a session's log piece by piece in the background. */
export class LogCopier {
  readonly #writerContext: WriterContext
  readonly #context: LogCopierContext
  #running: Promise<void> | undefined
  /** Size of the output at the last copy. */
  #copiedSize = -1
  #stopWatching: () => void = () => undefined

  constructor(writerContext: WriterContext, context: LogCopierContext) {
    this.#writerContext = writerContext
    this.#context = context
  }

  /** Returns true if the output has another size than at the last copy: not every file system reports changes. */
  hasGrown(size: number): boolean {
    return size !== this.#copiedSize && this.#findOutput() !== null
  }

  /** Copies all output of this moment. A second call waits for the first. */
  async copyAll(): Promise<void> {
    while (this.#running !== undefined) await this.#running.catch(() => undefined)
    this.#running = this.#copyOutput().finally(() => (this.#running = undefined))
    await this.#running
  }

  /** Resolves when no write is running any more. */
  async close(): Promise<void> {
    this.#stopWatching()
    await this.#running?.catch(() => undefined)
  }

  async #copyOutput(): Promise<void> {
    const { ending, onGrowth } = this.#context
    this.#stopWatching()
    const file = this.#findOutput()
    this.#copiedSize = file === null ? 0 : fileSize(file)
    try {
      while (!ending.aborted && (await this.#writerContext.copying.run(() => this.#copyChunk())));
    } catch (cause) {
      this.#copiedSize = -1
      throw cause
    }
    if (file !== null && !ending.aborted) this.#stopWatching = onceFileGrows(file, this.#copiedSize, onGrowth)
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
      : attemptFolder(this.#writerContext.home, session.spec.id, session.attempt.number).stdout
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
