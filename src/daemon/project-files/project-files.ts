import { setTimeout as pause } from 'node:timers/promises'
import type { Event } from '../../core/session/events.ts'
import type { SessionId } from '../../core/session/session-id-and-name.ts'
import type { Session } from '../../core/session/session-state.ts'
import { DutyCycle } from '../../os/duty-cycle.ts'
import type { Duration } from '../../lib/time.ts'
import { errorMessage } from '../../lib/errors.ts'
import { Superseded } from '../../ports/store.ts'
import { SessionWriter } from './session-writer.ts'
import { HEARTBEAT_INTERVAL } from './heartbeat.ts'
import { readProgress } from './progress-record.ts'
import type { WriterContext } from './context.ts'
import { Reconciler, type ReconcilerContext } from '../../engine/background/reconciler.ts'
import { linkToNewest, linkToSession, removeSessionFiles } from './newest-session-links.ts'

/** Matches the path of an open folder descriptor, which means nothing to people. */
const DESCRIPTOR_PATH = /\/proc\/self\/fd\/\d+\//g

/** After each page or piece, the writer rests this many times as long as the write took. */
const REST_FACTORS = { writing: 4, copying: 3 }
/** This many heartbeats take a millisecond. */
const HEARTBEATS_PER_BATCH = 10
/** Milliseconds for which a stopping supervisor still writes; the next one writes the rest. */
const FLUSH_TIMEOUT: Duration = 1_000

/** The daemon's functions that the project files need. */
export type ProjectFilesContext = Omit<WriterContext, 'writing' | 'copying'> & {
  readonly timings: ReconcilerContext['timings']
  readonly log: (sentence: string) => void
  readonly onTrouble: (subject: string, cause: unknown) => void
}

/**
 * Keeps the files about each session in its project up to date. No session depends on them: the log reports an error
 * once, and the work continues.
 */
export class ProjectFiles {
  readonly #context: ProjectFilesContext
  readonly #writerContext: WriterContext
  readonly #writers = new Map<string, SessionWriter>()
  readonly #reconciler: Reconciler<SessionWriter>
  /** Sessions to which the links at the top of their projects will point once their pages exist. */
  readonly #newest = new Set<string>()
  readonly #reported = new Set<string>()
  /** Sessions whose files `remove` has deleted and that may still exist. */
  readonly #removed = new Set<SessionId>()
  #isClosed = false
  #cancel: () => void = () => undefined

  constructor(context: ProjectFilesContext) {
    this.#context = context
    this.#writerContext = {
      ...context,
      writing: new DutyCycle(REST_FACTORS.writing),
      copying: new DutyCycle(REST_FACTORS.copying),
    }
    this.#reconciler = new Reconciler(
      { ...context, onTrouble: (_, cause) => this.#closeIfSuperseded(cause) },
      { find: id => this.#writers.get(id), wanted: writer => writer.wanted() },
    )
  }

  /** Writes the changes that an earlier supervisor did not write before its end. */
  async start(): Promise<void> {
    const { store, clock } = this.#context
    this.#scheduleHeartbeats()
    for (const session of store.unsettled()) {
      if (!this.#writers.has(session.spec.id) && this.isUnwritten(session))
        this.update(store.load(session.spec.id) ?? session)
      await clock.yieldEventLoop()
    }
    for (const project of new Set(this.#sessions().map(({ spec }) => spec.cwd))) this.#linkNewest(project)
  }

  /** Takes over a session's new state. */
  update(session: Session): void {
    if (this.#isIncluded(session)) this.#writerFor(session).update(session)
  }

  /** Takes over a new event of the session. */
  addEvent(session: Session, event: Event): void {
    if (event.type === 'session.woken') this.#removed.delete(session.spec.id)
    if (!this.#isIncluded(session)) return
    this.#writerFor(session).addEvent(event)
    if (event.type === 'session.created' || event.type === 'session.woken') this.#newest.add(session.spec.id)
  }

  /** Removes a session's files, before the engine removes the session itself. */
  async remove(session: Session): Promise<void> {
    const { id } = session.spec
    // A session that no longer exists gets no more updates.
    for (const earlier of this.#removed)
      if (this.#context.store.load(earlier) === undefined) this.#removed.delete(earlier)
    this.#removed.add(id)
    const writer = this.#writers.get(id)
    this.#writers.delete(id)
    this.#reconciler.update(id)
    await writer?.close()
    this.#tryOrReport(session, () => removeSessionFiles(session, this.#writerContext))
    this.#reported.delete(id)
  }

  /** Writes pending changes within a time limit, and nothing after that. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancel()
    this.#writerContext.writing.stopResting()
    this.#writerContext.copying.stopResting()
    const writers = [...this.#writers.values()]
    await Promise.race([
      Promise.all(writers.map(writer => writer.flush())),
      pause(FLUSH_TIMEOUT, undefined, { ref: false }),
    ])
    await Promise.all(writers.map(writer => writer.close()))
    await this.#reconciler.stop()
  }

  #scheduleHeartbeats(): void {
    const { clock } = this.#context
    this.#cancel = clock.schedule(clock.now() + HEARTBEAT_INTERVAL, () => void this.#writeHeartbeats())
  }

  /** One timer serves all sessions: a timer for each would cost as much as its line. */
  async #writeHeartbeats(): Promise<void> {
    const { store, clock } = this.#context
    this.#scheduleHeartbeats()
    try {
      for (const [index, writer] of [...this.#writers.values()].entries()) {
        if (index % HEARTBEATS_PER_BATCH === 0) {
          await clock.yieldEventLoop()
          if (this.#isClosed) return
          store.assertEpoch()
        }
        writer.writeHeartbeat()
      }
    } catch (cause) {
      this.#closeIfSuperseded(cause)
    }
  }

  /**
   * Returns true when project files lack changes of the session. Excludes sessions that ended before oneshot wrote such
   * files.
   */
  isUnwritten({ spec, phase }: Session): boolean {
    const progress = phase.name === 'ended' ? readProgress(this.#context.home, spec.id) : undefined
    return phase.name !== 'ended' || (progress !== undefined && progress.endedAt !== phase.at)
  }

  #isIncluded({ spec }: Session): boolean {
    return !this.#isClosed && spec.supervision.projectFiles !== false && !this.#removed.has(spec.id)
  }

  #sessions(): Session[] {
    return [...this.#writers.values()].map(writer => writer.session)
  }

  /** Restores the links, because an earlier supervisor may have died between the start of a session and its links. */
  #linkNewest(project: string): void {
    const sessions = this.#sessions().filter(({ spec }) => spec.cwd === project)
    const [newest] = sessions.sort((a, b) => b.clockSince - a.clockSince)
    if (newest === undefined) return
    if (newest.phase.name === 'ended') this.#tryOrReport(newest, () => linkToNewest(project, this.#writerContext))
    else this.#newest.add(newest.spec.id)
  }

  #writerFor(session: Session): SessionWriter {
    const { id } = session.spec
    const existing = this.#writers.get(id)
    if (existing !== undefined) return existing
    const writer: SessionWriter = new SessionWriter(session, this.#writerContext, {
      onChanged: () => this.#reconciler.update(id),
      onWritten: (session, { isRecreated }) => this.#onWritten(session, isRecreated),
      onFinished: () => this.#removeWriter(id, writer),
      onError: (session, cause) => this.#reportOnce(session, cause),
    })
    this.#writers.set(id, writer)
    return writer
  }

  #removeWriter(id: SessionId, writer: SessionWriter): void {
    if (this.#writers.get(id) === writer) this.#writers.delete(id)
    void writer.close()
    this.#reconciler.update(id)
  }

  #onWritten(session: Session, isRecreated: boolean): void {
    this.#reported.delete(session.spec.id)
    if (this.#newest.delete(session.spec.id)) linkToSession(session, this.#writerContext)
    else if (isRecreated) linkToNewest(session.spec.cwd, this.#writerContext)
  }

  #tryOrReport(session: Session, action: () => void): void {
    try {
      action()
    } catch (cause) {
      this.#reportOnce(session, cause)
    }
  }

  /** Stops writing if another supervisor has taken over. */
  #closeIfSuperseded(cause: unknown): void {
    if (!(cause instanceof Superseded)) return
    this.#isClosed = true
    this.#context.onTrouble('', cause)
  }

  /** Reports one error per session, until a write succeeds again. */
  #reportOnce({ spec }: Session, cause: unknown): void {
    this.#closeIfSuperseded(cause)
    if (this.#isClosed || this.#reported.has(spec.id)) return
    this.#reported.add(spec.id)
    this.#context.log(
      `${spec.name} cannot write its files in ${spec.cwd}: ${errorMessage(cause).replaceAll(DESCRIPTOR_PATH, '')}`,
    )
  }
}
