import type { Event } from '../../core/session/events.ts'
import type { Session } from '../../core/session/session.ts'
import type { Duration, Instant } from '../../lib/time.ts'
import type { HeartbeatStats } from '../../views/process-stats.ts'
import { AGENT_FOLDER, isNotAFolder } from '../../world/project-files/agent-folder.ts'
import { LogCopier } from './log-copier.ts'
import { SessionFiles, type WriteResult } from './session-files.ts'
import type { WriterContext } from './context.ts'

/** What has just happened is seldom all: whatever it leads to has a moment to follow, and the work goes first. */
const WRITE_DELAY: Duration = 100
/** How often pages are written at most; on a slow disk as seldom as it is slow. */
const MIN_INTERVAL: Duration = 1_000
const REST_FACTOR = 20
/** How often an end is tried to be told where that does not succeed, as on a full disk. */
const MAX_TRIES = 20

export interface SessionWriterEvents {
  readonly onWritten: (session: Session, written: WriteResult) => void
  /** It has ended, and everything is written, or cannot be for now. */
  readonly onFinished: (session: Session) => void
  readonly onError: (session: Session, cause: unknown) => void
}

/** Sees to it that the files of one session are written in time, for as long as it lives and until its end is told. */
export class SessionWriter {
  readonly #context: WriterContext
  readonly #events: SessionWriterEvents
  readonly #files: SessionFiles
  readonly #log: LogCopier
  readonly #closing = new AbortController()
  #session: Session
  /** Something is to be told that the pages do not tell yet. */
  #isStale = true
  #isHeartbeatDue = true
  #tries = 0
  /** When pages will be written next, and not before when. */
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
        // What it says is on its pages, too; with the next heartbeat is soon enough.
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

  /** It is like this now. */
  update(session: Session): void {
    this.#session = session
    this.#isStale = true
    this.#log.schedule()
    const soon = this.#context.clock.now() + WRITE_DELAY
    this.#scheduleWrite(session.phase.name === 'ended' ? soon : Math.max(soon, this.#earliestWriteAt))
  }

  /** This became true of it. */
  addEvent(event: Event): void {
    this.#files.addEvent(event)
  }

  /** Half a minute has passed. Most sessions have nothing to tell but that: a line is added, and nothing else is looked at. */
  writeHeartbeat(): void {
    const stats = this.#isStale || this.#files.hasTrackerChanged ? null : this.#tryHeartbeat()
    if (stats !== null) return this.#log.scheduleIfGrown(stats.written)
    this.#isHeartbeatDue = true
    this.#scheduleWrite(this.#context.clock.now())
  }

  /** Writes what is still to be written, now. */
  async flush(): Promise<void> {
    if (this.#isStale) this.#write()
    await this.#log.copyAll()
  }

  /** Nothing more is written from now on, whatever happens. */
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

  /** False when it could not be done. */
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

  /** That its end is told is not noted then: the next supervisor tells it. */
  #giveUpAfterMaxTries(session: Session): void {
    if (++this.#tries >= MAX_TRIES) this.#events.onFinished(session)
  }

  #reportError(cause: unknown): void {
    if (!this.#closing.signal.aborted) this.#events.onError(this.#session, cause)
  }
}
