import type { Event } from '../../core/session/events.ts'
import type { Session } from '../../core/session/session-state.ts'
import type { Job, JobFailure } from '../../lib/keyed-jobs.ts'
import type { RetryPolicy } from '../../lib/retry-policy.ts'
import type { Duration, Instant } from '../../lib/time.ts'
import type { HeartbeatStats } from '../../views/process-stats.ts'
import { AGENT_FOLDER, isNotAFolder } from '../../world/project-files/agent-folder.ts'
import { HEARTBEAT_INTERVAL } from './heartbeat.ts'
import { LogCopier } from './log-copier.ts'
import { SessionFiles, type WriteResult } from './session-files.ts'
import type { WriterContext } from './context.ts'

/** Milliseconds. Further changes usually follow the first, and the work has priority over the pages. */
const WRITE_DELAY: Duration = 100
/** Milliseconds between two writes of the pages; on a slow disk, the pause grows with the duration of a write. */
const MIN_INTERVAL: Duration = 1_000
const REST_FACTOR = 20
/**
 * Milliseconds between two copies of the log. A reader with `tail -f` does not notice this delay, and a program that
 * writes all the time causes no more copies.
 */
const COPY_INTERVAL: Duration = 500
/** The writer tries to write the end of a session some times, and then leaves it to the next supervisor. */
const RETRY: RetryPolicy = { firstPause: MIN_INTERVAL, maxPause: HEARTBEAT_INTERVAL }
const RETRY_END: RetryPolicy = { ...RETRY, maxTries: 20 }

export interface SessionWriterEvents {
  /** The writer wants other jobs than before. */
  readonly onChanged: () => void
  readonly onWritten: (session: Session, written: WriteResult) => void
  /** The writer calls this after the end of the session, when it has written all files or cannot write them for now. */
  readonly onFinished: (session: Session) => void
  readonly onError: (session: Session, cause: unknown) => void
}

/** Derives the writes of one session's files from its state, up to and including its end. */
export class SessionWriter {
  readonly #context: WriterContext
  readonly #events: SessionWriterEvents
  readonly #files: SessionFiles
  readonly #log: LogCopier
  readonly #closing = new AbortController()
  #session: Session
  /** The number of changes so far, and the number of those that the pages show. */
  #changes = 1
  #writtenChanges = 0
  #changedAt: Instant
  #earliestWriteAt: Instant
  #isHeartbeatDue = true
  /** The pages quote an older line of the log; an update with the next heartbeat is soon enough. */
  #isQuoteOld = false
  /** The number of requests to copy the log so far, and the number of those that are done. */
  #copyRequests = 0
  #copiesDone = 0
  #lastCopyAt = Number.NEGATIVE_INFINITY
  /** The end that the record of progress holds. */
  #recordedEnd: Instant | undefined

  constructor(session: Session, context: WriterContext, events: SessionWriterEvents) {
    this.#context = context
    this.#events = events
    this.#session = session
    this.#changedAt = context.clock.now()
    this.#earliestWriteAt = this.#changedAt
    this.#files = new SessionFiles(session.spec.id, context)
    this.#log = new LogCopier(context, {
      session: () => this.#session,
      mask: () => this.#files.maskFor(this.#session),
      progress: () => this.#files.progress.log,
      saveProgress: log => {
        if (log.length > 0) this.#isQuoteOld = true
        this.#files.saveProgress({ log })
      },
      onGrowth: () => this.#requestCopy(),
      ending: this.#closing.signal,
    })
  }

  get session(): Session {
    return this.#session
  }

  /** Takes over the session's new state. */
  update(session: Session): void {
    this.#session = session
    this.#changes++
    this.#changedAt = this.#context.clock.now()
    this.#requestCopy()
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
    const isOld = this.#isStale || this.#isQuoteOld || this.#files.hasTrackerChanged
    const stats = isOld ? null : this.#tryHeartbeat()
    if (stats === null) {
      this.#isHeartbeatDue = true
      this.#changes++
      this.#events.onChanged()
    } else if (this.#log.hasGrown(stats.written)) this.#requestCopy()
  }

  /** Returns the writes that are due for the present state. */
  wanted(): readonly Job[] {
    if (this.#closing.signal.aborted) return []
    return [...this.#pagesJob(), ...this.#copyJob(), ...this.#endJob()]
  }

  /** Writes the pending changes now. */
  async flush(): Promise<void> {
    if (this.#isStale || this.#isQuoteOld) this.#tryOrReport(() => this.#writePages())
    await this.#copyLog().catch(cause => this.#reportError(cause))
  }

  /** Stops all writes for good. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#log.close()
  }

  get #isStale(): boolean {
    return this.#writtenChanges < this.#changes
  }

  get #endedAt(): Instant | undefined {
    return this.#session.phase.name === 'ended' ? this.#session.phase.at : undefined
  }

  #pagesJob(): Job[] {
    if (!this.#isStale) return []
    const soon = this.#changedAt + WRITE_DELAY
    return [
      {
        ...this.#job('pages', this.#changes),
        dueAt: this.#endedAt === undefined ? Math.max(soon, this.#earliestWriteAt) : soon,
        run: () => this.#context.writing.run(() => this.#writePages()),
      },
    ]
  }

  #copyJob(): Job[] {
    if (this.#copiesDone >= this.#copyRequests) return []
    const dueAt = Math.max(this.#lastCopyAt + COPY_INTERVAL, this.#changedAt + WRITE_DELAY)
    return [
      {
        ...this.#job('log', this.#copyRequests),
        ...(this.#endedAt === undefined && { dueAt }),
        run: () => this.#copyLog(),
      },
    ]
  }

  /** Records that all files of an ended session are written, so that the next supervisor need not write them. */
  #endJob(): Job[] {
    const endedAt = this.#endedAt
    const isWritten = !this.#isStale && this.#copiesDone >= this.#copyRequests
    if (endedAt === undefined || !isWritten || this.#recordedEnd === endedAt) return []
    const run = async (): Promise<void> => {
      this.#files.saveProgress({ endedAt })
      this.#recordedEnd = endedAt
      this.#events.onFinished(this.#session)
    }
    return [{ ...this.#job('end', endedAt), run }]
  }

  #job(key: string, revision: number): Pick<Job, 'key' | 'revision' | 'retry' | 'onFailure'> {
    const onFailure = ({ cause, isFinal }: JobFailure): void => {
      this.#reportError(cause)
      // The record does not name the end, so that the next supervisor writes it.
      if (isFinal) this.#events.onFinished(this.#session)
    }
    return { key, revision, retry: this.#endedAt === undefined ? RETRY : RETRY_END, onFailure }
  }

  #requestCopy(): void {
    this.#copyRequests++
    this.#events.onChanged()
  }

  async #copyLog(): Promise<void> {
    const requests = this.#copyRequests
    try {
      await this.#log.copyAll()
      this.#copiesDone = requests
    } finally {
      this.#lastCopyAt = this.#context.clock.now()
    }
  }

  #writePages(): void {
    if (this.#closing.signal.aborted) return
    const { clock } = this.#context
    const startedAt = clock.monotonic()
    const [session, changes] = [this.#session, this.#changes]
    try {
      const written = this.#files.write(session, { isBeatDue: this.#isHeartbeatDue })
      this.#writtenChanges = changes
      this.#isHeartbeatDue = false
      this.#isQuoteOld = false
      if (written.isWritten) this.#events.onWritten(session, written)
      else if (isNotAFolder(session.spec.cwd))
        this.#reportError(new Error(`${AGENT_FOLDER} is a file or a link, and is left alone`))
    } finally {
      this.#earliestWriteAt = clock.now() + Math.max(MIN_INTERVAL, (clock.monotonic() - startedAt) * REST_FACTOR)
    }
  }

  #tryHeartbeat(): HeartbeatStats | null {
    try {
      return this.#files.writeHeartbeat(this.#session)
    } catch (cause) {
      this.#reportError(cause)
      return null
    }
  }

  #tryOrReport(action: () => void): void {
    try {
      this.#context.store.assertEpoch()
      action()
    } catch (cause) {
      this.#reportError(cause)
    }
  }

  #reportError(cause: unknown): void {
    if (!this.#closing.signal.aborted) this.#events.onError(this.#session, cause)
  }
}
