import type { CheckpointTrigger } from '../../core/checkpoint/checkpoint.ts'
import type { Session } from '../../core/session/session.ts'
import type { Signal } from '../../core/session/signals.ts'
import { type Issue, type TrackerSnapshot, finishedIssues, keepSettled } from '../../core/session/task.ts'
import type { Duration } from '../../lib/time.ts'
import { errorMessage } from '../../lib/errors.ts'
import { KeyedMutex } from '../../lib/keyed-mutex.ts'
import { Superseded } from '../../ports/store.ts'
import { Backoff, withTimeout } from '../retry.ts'
import type { EngineContext } from '../context.ts'
import type { Tracker, TrackerContext } from '../../ports/tracker.ts'

/** A tracker answers within a second; one that takes this long waits for something that may never come. */
const TRACKER_TIMEOUT: Duration = 10_000
/** An issue that could not be closed so often is left to people. */
const MAX_TRIES = 3

type IssueSyncContext = Pick<EngineContext, 'store' | 'runtime' | 'clock' | 'tracker' | 'log' | 'onTrouble'>

interface QueuedSync {
  readonly triggers: Set<CheckpointTrigger>
  readonly done: Promise<void>
}

/** How a visit went. */
interface SyncResult {
  readonly errors: unknown[]
  /** It is to be made again. */
  isUnfinished: boolean
}

/**
 * Keeps a project's own task tracker and a session's tasks together, beside the work and never in its way. What is to be
 * closed follows from what is recorded: killed at any moment, the next supervisor comes to the same.
 */
export class IssueSync {
  readonly #context: IssueSyncContext
  readonly #report: (sessionId: string, signal: Signal) => Promise<void>
  readonly #mutex = new KeyedMutex()
  readonly #backoff: Backoff
  readonly #abort = new AbortController()
  /** Visits that have not begun: another wish for the same session changes nothing more. */
  readonly #queued = new Map<string, QueuedSync>()
  /** The tasks of each live session, as they were when it was last heard of. */
  readonly #known = new Map<string, string>()
  readonly #failures = new Map<string, number>()

  constructor(context: IssueSyncContext, report: (sessionId: string, signal: Signal) => Promise<void>) {
    this.#context = context
    this.#report = report
    this.#backoff = new Backoff(context.clock, ids => this.#retry(ids))
  }

  /** Takes up what a supervisor before us did not live to carry over. */
  start(): void {
    for (const session of this.#context.store.all())
      if (session.spec.beads === true && this.#isBehind(session)) this.requestSync(session, 'start')
  }

  /** Told of each session as it is now, as often as it changes. */
  onSessionChanged(session: Session): void {
    const { id } = session.spec
    const before = this.#known.get(id)
    if (session.phase.name === 'ended') {
      this.#known.delete(id)
      if (before !== undefined || this.#isBehind(session)) this.requestSync(session, 'end')
      return
    }
    const tasks = JSON.stringify(session.tasks)
    this.#known.set(id, tasks)
    if (before === undefined) this.requestSync(session, 'start')
    else if (before !== tasks) this.requestSync(session, 'edit')
  }

  /**
   * Visits the session's task tracker, where its project has one: at each moment at which its work is saved. One at a time
   * per tracker. It never throws.
   */
  requestSync(session: Session, trigger: CheckpointTrigger): void {
    void this.#queueSync(session, trigger)
  }

  async #queueSync(session: Session, trigger: CheckpointTrigger): Promise<void> {
    const { id } = session.spec
    const waiting = this.#queued.get(id)
    waiting?.triggers.add(trigger)
    if (waiting !== undefined || this.#abort.signal.aborted) return waiting?.done
    try {
      const root = this.#context.tracker.findRoot(this.#trackerContext(session))
      if (root === null) return
      if (session.spec.beads !== true) return this.#suggestTracker(session)
      if (this.#isBackingOff(root, session)) return
      const triggers = new Set([trigger])
      const done = this.#mutex.run(root, () => {
        this.#queued.delete(id)
        return this.#sync(id, root, { isSparing: [...triggers].every(each => each === 'edit') })
      })
      this.#queued.set(id, { triggers, done })
      await done
    } catch (cause) {
      this.#context.onTrouble('', cause)
    }
  }

  /** Nothing new is begun, and what is under way is broken off. */
  async stop(): Promise<void> {
    this.#abort.abort()
    this.#backoff.stop()
    await this.#mutex.idle()
  }

  async #sync(id: string, root: string, how: { isSparing: boolean }): Promise<void> {
    const session = this.#context.store.load(id)
    if (session === undefined || this.#abort.signal.aborted || this.#isBackingOff(root, session)) return
    const result: SyncResult = { errors: [], isUnfinished: false }
    try {
      await syncIssues(session, this.#trackerContext(session), this.#syncContext(session, result), how)
    } catch (cause) {
      if (cause instanceof Superseded) throw cause
      if (this.#abort.signal.aborted) return
      result.errors.unshift(cause)
      result.isUnfinished = true
    }
    const [error] = result.errors
    if (result.isUnfinished) this.#backoff.fail(root, id, error)
    else this.#backoff.succeed(root)
    if (error === undefined) return
    this.#context.log(`${session.spec.name} ${this.#context.tracker.kind}: ${errorMessage(error)}`)
    this.#addNote(session, error)
  }

  #syncContext({ spec }: Session, result: SyncResult): SyncContext {
    const { clock, store, tracker } = this.#context
    const abortSignal = this.#abort.signal
    return {
      tracker,
      call: async (doing, action) => {
        store.assertEpoch()
        return await withTimeout(action, { clock, limit: TRACKER_TIMEOUT, doing, ending: abortSignal })
      },
      onCloseFailed: (issue, cause) => {
        if (cause instanceof Superseded) throw cause
        const tries = (this.#failures.get(`${spec.id} ${issue}`) ?? 0) + 1
        this.#failures.set(`${spec.id} ${issue}`, tries)
        result.errors.push(cause)
        result.isUnfinished ||= tries < MAX_TRIES
        return tries >= MAX_TRIES
      },
      onError: cause => {
        if (cause instanceof Superseded) throw cause
        result.errors.push(cause)
      },
      save: snapshot => {
        store.assertEpoch()
        tracker.saveSnapshot(spec.id, { ...snapshot, at: clock.now() })
      },
    }
  }

  #isBackingOff(root: string, session: Session): boolean {
    const pause = this.#backoff.blocks(root, session.spec.id)
    if (pause !== undefined) this.#addNote(session, pause.cause)
    return pause !== undefined
  }

  /** A tracker runs hooks of the project, which its user may not know: it is not run before the user agrees. */
  #suggestTracker(session: Session): void {
    if (session.spec.parent !== undefined || session.phase.name === 'ended') return
    this.#addNote(session, 'this project has .beads: set beads = true in your own config to sync its tasks', '')
  }

  /** A session's own story tells it once, whatever it was; the supervisor's each time. */
  #addNote({ spec }: Session, cause: unknown, ending = '; the work continues without it'): void {
    const { clock, store, tracker } = this.#context
    if (store.load(spec.id)?.notes.some(note => note.startsWith(`${tracker.kind}: `))) return
    const note = `${tracker.kind}: ${errorMessage(cause)}${ending}`
    void this.#report(spec.id, { at: clock.now(), type: 'trouble.noted', note })
  }

  #retry(ids: readonly string[]): void {
    const sessions = ids.flatMap(id => this.#context.store.load(id) ?? [])
    for (const session of sessions)
      if (session.phase.name !== 'ended' || this.#isBehind(session)) this.requestSync(session, 'interval')
  }

  /** By what is recorded: its tracker was never seen, or has not been told of something finished. */
  #isBehind({ spec, phase, tasks }: Session): boolean {
    if (phase.name === 'ended' && !tasks.some(({ state }) => state === 'done')) return false
    const known = this.#context.tracker.loadSnapshot(spec.id)
    return known === null || finishedIssues(tasks, known).length > 0
  }

  #trackerContext({ spec }: Session): { cwd: string; env: Readonly<Record<string, string>> } {
    return { cwd: spec.cwd, env: this.#context.runtime.readEnvironment(spec.id) }
  }
}

/** What a visit needs of whoever makes it. */
export interface SyncContext {
  readonly tracker: Tracker
  /** Asks for something with a time limit. `doing` is told when it is not answered. */
  readonly call: <T>(doing: string, action: (signal: AbortSignal) => Promise<T>) => Promise<T>
  /** Told of an issue that could not be closed; true when it is not to be tried again. */
  readonly onCloseFailed: (issue: string, cause: unknown) => boolean
  /** Told of trouble that keeps nobody from reading the list. */
  readonly onError: (cause: unknown) => void
  readonly save: (snapshot: Pick<TrackerSnapshot, 'version' | 'ready' | 'settled'>) => void
}

/**
 * One visit to a project's task tracker on behalf of a session: closes the issues whose tasks are finished, has it save what
 * it knows, and writes down what is ready. What was closed already is found closed: a visit that was broken off is made again.
 * With `isSparing` it is had to save only what is new to us.
 */
async function syncIssues(
  session: Session,
  place: TrackerContext,
  context: SyncContext,
  { isSparing }: { isSparing: boolean },
): Promise<void> {
  const { tracker, call, onError, save: keep } = context
  const before = tracker.loadSnapshot(session.spec.id)
  const read = (): Promise<Issue[]> => call('reading what is ready', signal => tracker.readyIssues(place, signal))
  const version = await call('asking for its version', signal => tracker.version(place, signal))
  const found = await read()
  const settled = keepSettled(session.tasks, { ready: found, settled: before?.settled ?? [] })
  // What was ready once and is no longer may have been closed by whoever died before writing that down.
  const due = finishedIssues(session.tasks, { ready: [...found, ...(before?.ready ?? [])], settled })
  for (const issue of due) {
    const isListed = found.some(listed => listed.id === issue)
    if (await settleIssue(issue, { isListed, session, place, visitor: context })) settled.push(issue)
  }
  const isNews = before === null || JSON.stringify(before.ready) !== JSON.stringify(found) || due.length > 0
  if (!isSparing || isNews) await call('syncing it', signal => tracker.sync(place, signal)).catch(onError)
  const ready = due.length === 0 ? found : await read()
  keep({ version, ready, settled })
}

/** Whether nothing more is to be done about a finished issue. */
async function settleIssue(
  issue: string,
  given: { isListed: boolean; session: Session; place: TrackerContext; visitor: SyncContext },
): Promise<boolean> {
  const { isListed, session, place, visitor } = given
  const { tracker, call, onCloseFailed } = visitor
  const { name, id } = session.spec
  const reason = `finished by ${name}, oneshot session ${id}`
  try {
    const isOpen =
      isListed ||
      (await call(`looking up ${issue}`, signal => tracker.findIssue(place, issue, signal)))?.state !== 'done'
    if (isOpen) await call(`closing ${issue}`, signal => tracker.closeIssue(place, issue, reason, signal))
    return true
  } catch (cause) {
    return onCloseFailed(issue, cause)
  }
}
