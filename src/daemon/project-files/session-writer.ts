import type { Event } from '../../core/session/events.ts'
import type { Session } from '../../core/session/session.ts'
import type { Duration, Instant } from '../../lib/time.ts'
import type { HeartbeatStats } from '../../views/process-stats.ts'
import { AGENT_FOLDER, isNotAFolder } from '../../world/project-files/agent-folder.ts'
import { LogCopier } from './log-copier.ts'
import { SessionFiles, type WriteResult } from './session-files.ts'
import type { WriterContext } from './context.ts'

/** Milliseconds. Further changes usually follow the first, and the work has priority over the pages. */
const WRITE_DELAY: Duration = 100
/** Milliseconds between two writes of the pages; on a slow disk, the pause grows with the duration of a write. */
const MIN_INTERVAL: Duration = 1_000
const REST_FACTOR = 20
/** Tries to write an end that fails, as on a full disk. */
const MAX_TRIES = 20

export interface SessionWriterEvents {
  readonly onWritten: (session: Session, written: WriteResult) => void
  /** The writer calls this after the end of the session, when it has written all files or cannot write them for now. */
  readonly onFinished: (session: Session) => void
  readonly onError: (session: Session, cause: unknown) => void
}

/** Schedules the writes of one session's files, up to and including its end. */
export class SessionWriter {
  readonly #context: WriterContext
  readonly #events: SessionWriterEvents
  readonly #files: SessionFiles
  readonly #log: LogCopier
  readonly #closing = new AbortController()
  #session: Session
  /** True when the pages lack a change. */
  #isStale = true
  #isHeartbeatDue = true
  #tries = 0
  /** The time of the next write, and the earliest time allowed for it. */
  #writeAt: Instant | undefined
  #earliestWriteAt: Instant
  #cancel: () => void = () => undefined

  constructor(session: Session, context: WriterContext, events: SessionWriterEvents) {
    this.#context = context
    this.#events = events
    this.#session = session
    this.#files = new SessionFiles(session.spec.id, context)
    this.#earliestWriteAt = context.clock.now()
    this.#log = new LogCopier(context, {
      session: () => this.#session,
      mask: () => this.#files.maskFor(this.#session),
      progress: () => this.#files.progress.log,
      saveProgress: log => {
        // The pages quote the log, too; an update with the next heartbeat is soon enough.
        if (log.length > 0) this.#isStale = true
        this.#files.saveProgress({ log })
      },
      reportError: cause => this.#reportError(cause),
      ending: this.#closing.signal,
    })
  }

  get session(): Session {
    return this.#session
  }

  /** Takes over the session's new state. */
  update(session: Session): void {
    this.#session = session
    this.#isStale = true
    this.#log.schedule()
    const soon = this.#context.clock.now() + WRITE_DELAY
    this.#scheduleWrite(session.phase.name === 'ended' ? soon : Math.max(soon, this.#earliestWriteAt))
  }

  /** Takes over a new event. */
  addEvent(event: Event): void {
    this.#files.addEvent(event)
  }

  /**
   * The project files call this every half minute. If nothing else has changed, this adds a heartbeat line and checks
   * nothing else.
   */
  writeHeartbeat(): void {
    const stats = this.#isStale || this.#files.hasTrackerChanged ? null : this.#tryHeartbeat()
    if (stats !== null) return this.#log.scheduleIfGrown(stats.written)
    this.#isHeartbeatDue = true
    this.#scheduleWrite(this.#context.clock.now())
  }

  /** Writes the pending changes now. */
  async flush(): Promise<void> {
    if (this.#isStale) this.#write()
    await this.#log.copyAll()
  }

  /** Stops all writes for good. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#cancel()
    await this.#log.close()
  }

  #scheduleWrite(at: Instant): void {
    if (this.#closing.signal.aborted || (this.#writeAt !== undefined && this.#writeAt <= at)) return
    this.#cancel()
    this.#writeAt = at
    this.#cancel = this.#context.clock.schedule(at, () => void this.#context.writing.run(() => this.#write()))
  }

  #write(): void {
    if (this.#closing.signal.aborted) return
    this.#cancel()
    this.#writeAt = undefined
    const { clock } = this.#context
    const startedAt = clock.monotonic()
    const session = this.#session
    const isDone = this.#tryOrReport(() => this.#writeNow(session))
    this.#earliestWriteAt = clock.now() + Math.max(MIN_INTERVAL, (clock.monotonic() - startedAt) * REST_FACTOR)
    if (session.phase.name !== 'ended') return
    if (isDone) void this.#finish(session)
    else this.#giveUpAfterMaxTries(session)
  }

  #writeNow(session: Session): void {
    const written = this.#files.write(session, { isBeatDue: this.#isHeartbeatDue })
    this.#isStale = false
    this.#isHeartbeatDue = false
    if (written.isWritten) this.#events.onWritten(session, written)
    else if (isNotAFolder(session.spec.cwd))
      this.#reportError(new Error(`${AGENT_FOLDER} is a file or a link, and is left alone`))
  }

  #tryHeartbeat(): HeartbeatStats | null {
    try {
      return this.#files.writeHeartbeat(this.#session)
    } catch (cause) {
      this.#reportError(cause)
      return null
    }
  }

  /** Returns false after a failure. */
  #tryOrReport(action: () => void): boolean {
    try {
      this.#context.store.assertEpoch()
      action()
      return true
    } catch (cause) {
      this.#isStale = true
      this.#reportError(cause)
      return false
    }
  }

  async #finish(session: Session): Promise<void> {
    const isCopied = await this.#log.copyAll()
    const isCurrent = this.#session === session && this.#writeAt === undefined && !this.#closing.signal.aborted
    if (!isCurrent || session.phase.name !== 'ended') return
    const { at } = session.phase
    if (isCopied) {
      if (this.#tryOrReport(() => this.#files.saveProgress({ endedAt: at }))) this.#events.onFinished(session)
      return
    }
    this.#isStale = true
    this.#giveUpAfterMaxTries(session)
  }

  /** Gives up without recording the end as written, so that the next supervisor writes it. */
  #giveUpAfterMaxTries(session: Session): void {
    if (++this.#tries >= MAX_TRIES) this.#events.onFinished(session)
  }

  #reportError(cause: unknown): void {
    if (!this.#closing.signal.aborted) this.#events.onError(this.#session, cause)
  }
}
