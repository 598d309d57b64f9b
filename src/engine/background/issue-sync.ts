import type { CheckpointTrigger } from '../../core/checkpoint/checkpoint.ts'
import type { SessionId } from '../../core/session/session-id-and-name.ts'
import type { Session } from '../../core/session/session-state.ts'
import type { Signal } from '../../core/session/signals.ts'
import {
  type Issue,
  type TrackerSnapshot,
  finishedIssues,
  keepSettled,
} from '../../core/session/tasks-and-tracker-issues.ts'
import { Trouble, errorMessage } from '../../lib/errors.ts'
import type { Job, JobFailure } from '../../lib/keyed-jobs.ts'
import type { RetryPolicy } from '../../lib/retry-policy.ts'
import { Superseded } from '../../ports/store.ts'
import { withTimeout } from '../../lib/timeout.ts'
import type { EngineContext } from '../context.ts'
import type { Tracker, TrackerContext } from '../../ports/tracker.ts'
import { Reconciler } from './reconciler.ts'

const RETRY: RetryPolicy = { firstPause: 30_000, maxPause: 1_800_000 }
/** Failed tries after which the sync leaves an issue open for people to close. */
const MAX_TRIES = 3

type IssueSyncContext = Pick<EngineContext, 'store' | 'runtime' | 'clock' | 'timings' | 'tracker' | 'log' | 'onTrouble'>

/** The sessions that wait for a sync with one tracker, each with its triggers. */
interface WaitingSyncs {
  readonly root: string
  readonly triggers: Map<SessionId, Set<CheckpointTrigger>>
  /** The number of requests so far. */
  requests: number
  /** The failure after which the sync pauses. */
  failure: { readonly cause: unknown } | undefined
}

/** The outcome of one sync. */
interface SyncResult {
  readonly errors: unknown[]
  /** True when the sync must run again. */
  isUnfinished: boolean
}

/**
 * Synchronises a project's task tracker with a session's tasks, without delaying the work. The recorded tasks determine
 * the issues to close: after a crash at any moment, the next supervisor closes the same ones.
 */
export class IssueSync {
  readonly #context: IssueSyncContext
  readonly #report: (sessionId: SessionId, signal: Signal) => Promise<void>
  /** Each tracker serves one sync at a time, and pauses after a failure. The keys are the trackers' folders. */
  readonly #reconciler: Reconciler<WaitingSyncs, string>
  readonly #waiting = new Map<string, WaitingSyncs>()
  /** The tasks of each live session at its last change. */
  readonly #known = new Map<string, string>()
  readonly #failures = new Map<string, number>()

  constructor(context: IssueSyncContext, report: (sessionId: SessionId, signal: Signal) => Promise<void>) {
    this.#context = context
    this.#report = report
    this.#reconciler = new Reconciler(context, {
      find: root => this.#waiting.get(root),
      wanted: waiting => this.#wanted(waiting),
    })
  }

  /** Runs the syncs that an earlier supervisor did not finish before its end. */
  start(): void {
    for (const session of this.#context.store.unsettled())
      if (this.isWanted(session)) this.requestSync(session, 'start')
  }

  /** Returns true when the records show that the session needs a sync. */
  isWanted(session: Session): boolean {
    return session.spec.supervision.beads === true && this.#isBehind(session)
  }

  /** The engine calls this with the current session after each change. */
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
   * Syncs the session with its project's task tracker, if there is one. The checkpointer requests this at each save.
   * This never throws.
   */
  requestSync(session: Session, trigger: CheckpointTrigger): void {
    try {
      const root = this.#context.tracker.findRoot(this.#trackerContext(session))
      if (root === null) return
      if (session.spec.supervision.beads === true) this.#addRequest(root, session, trigger)
      else this.#suggestTracker(session)
    } catch (cause) {
      this.#context.onTrouble('', cause)
    }
  }

  /** Begins nothing new, and aborts running syncs. */
  stop(): Promise<void> {
    return this.#reconciler.stop()
  }

  #addRequest(root: string, session: Session, trigger: CheckpointTrigger): void {
    const { id } = session.spec
    const waiting = this.#waiting.get(root) ?? { root, triggers: new Map(), requests: 0, failure: undefined }
    this.#waiting.set(root, waiting)
    waiting.triggers.set(id, (waiting.triggers.get(id) ?? new Set()).add(trigger))
    waiting.requests += 1
    if (waiting.failure !== undefined) this.#addNote(session, waiting.failure.cause)
    this.#reconciler.update(root, waiting)
  }

  #wanted(waiting: WaitingSyncs): Job[] {
    if (waiting.triggers.size === 0) return []
    const onFailure = ({ cause }: JobFailure): void => {
      if (!(cause instanceof Trouble)) this.#context.onTrouble('', cause)
    }
    const run = (signal: AbortSignal): Promise<void> => this.#syncAll(waiting, signal)
    return [{ key: 'sync', revision: waiting.requests, retry: RETRY, run, onFailure }]
  }

  /** Syncs the waiting sessions one after the other. After a failure, they wait for the next try. */
  async #syncAll(waiting: WaitingSyncs, signal: AbortSignal): Promise<void> {
    const { triggers, failure } = waiting
    waiting.failure = undefined
    const isRetry = failure !== undefined
    for (const [id, reasons] of triggers) {
      triggers.delete(id)
      const session = this.#context.store.load(id)
      if (session === undefined || (isRetry && !this.#isStillUseful(session))) continue
      const isSparing = [...reasons].every(trigger => trigger === 'edit')
      const { errors, isUnfinished } = await this.#sync(session, { isSparing, signal })
      if (signal.aborted) return
      if (errors.length > 0) this.#reportError(session, errors[0])
      if (!isUnfinished) continue
      triggers.set(id, (triggers.get(id) ?? new Set()).add('interval'))
      return this.#pause(waiting, errors[0])
    }
  }

  #pause(waiting: WaitingSyncs, cause: unknown): never {
    waiting.failure = { cause }
    for (const id of waiting.triggers.keys()) {
      const session = this.#context.store.load(id)
      if (session !== undefined) this.#addNote(session, cause)
    }
    throw new Trouble('syncing with the tracker', cause)
  }

  async #sync(
    session: Session,
    { isSparing, signal }: { isSparing: boolean; signal: AbortSignal },
  ): Promise<SyncResult> {
    const result: SyncResult = { errors: [], isUnfinished: false }
    try {
      const context = this.#syncContext(session, result, signal)
      await syncIssues(session, this.#trackerContext(session), context, { isSparing })
    } catch (cause) {
      if (cause instanceof Superseded) throw cause
      result.errors.unshift(cause)
      result.isUnfinished = true
    }
    return result
  }

  #reportError(session: Session, cause: unknown): void {
    this.#context.log(`${session.spec.name} ${this.#context.tracker.kind}: ${errorMessage(cause)}`)
    this.#addNote(session, cause)
  }

  #isStillUseful(session: Session): boolean {
    return session.phase.name !== 'ended' || this.#isBehind(session)
  }

  #syncContext({ spec }: Session, result: SyncResult, signal: AbortSignal): SyncContext {
    const { clock, store, timings, tracker } = this.#context
    return {
      tracker,
      call: async (doing, action) => {
        store.assertEpoch()
        return await withTimeout(action, { clock, limit: timings.trackerTimeout, doing, signal })
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

  /**
   * Suggests the setting, and does not run the tracker: it runs hooks of the project that the user may not know, so the
   * user must agree first.
   */
  #suggestTracker(session: Session): void {
    if (session.spec.parent !== undefined || session.phase.name === 'ended') return
    this.#addNote(session, 'this project has .beads: set beads = true in your own config to sync its tasks', '')
  }

  /** Adds at most one tracker note to a session; the supervisor's log has each error. */
  #addNote({ spec }: Session, cause: unknown, ending = '; the work continues without it'): void {
    const { clock, store, tracker } = this.#context
    if (store.load(spec.id)?.notes.some(note => note.startsWith(`${tracker.kind}: `))) return
    const note = `${tracker.kind}: ${errorMessage(cause)}${ending}`
    void this.#report(spec.id, { at: clock.now(), type: 'trouble.noted', note })
  }

  /** Returns true when the records show that the session's tracker was never read, or still lists a finished task. */
  #isBehind({ spec, phase, tasks }: Session): boolean {
    if (phase.name === 'ended' && !tasks.some(({ state }) => state === 'done')) return false
    const known = this.#context.tracker.loadSnapshot(spec.id)
    return known === null || finishedIssues(tasks, known).length > 0
  }

  #trackerContext({ spec }: Session): { cwd: string; env: Readonly<Record<string, string>> } {
    return { cwd: spec.cwd, env: this.#context.runtime.readEnvironment(spec.id) }
  }
}

/** The caller's functions that a sync needs. */
export interface SyncContext {
  readonly tracker: Tracker
  /** Runs the action with a time limit. The error message names `doing`. */
  readonly call: <T>(doing: string, action: (signal: AbortSignal) => Promise<T>) => Promise<T>
  /** A sync calls this when it could not close an issue; true means that it must not try again. */
  readonly onCloseFailed: (issue: string, cause: unknown) => boolean
  /** A sync calls this for trouble that does not prevent it from reading the list. */
  readonly onError: (cause: unknown) => void
  readonly save: (snapshot: Pick<TrackerSnapshot, 'version' | 'ready' | 'settled'>) => void
}

/**
 * Runs one sync: closes the issues of finished tasks, has the tracker save its state, and stores the list of ready
 * issues. A repeated sync finds closed issues closed, so it can run again after a crash. With `isSparing`, the tracker
 * saves only when the list has changed.
 */
async function syncIssues(
  session: Session,
  place: TrackerContext,
  context: SyncContext,
  { isSparing }: { isSparing: boolean },
): Promise<void> {
  const { tracker, call, onError, save } = context
  const before = tracker.loadSnapshot(session.spec.id)
  const read = (): Promise<Issue[]> => call('reading what is ready', signal => tracker.readyIssues(place, signal))
  const version = await call('asking for its version', signal => tracker.version(place, signal))
  const found = await read()
  const settled = keepSettled(session.tasks, { ready: found, settled: before?.settled ?? [] })
  // A supervisor may have closed an issue that is no longer ready, and died before it recorded that.
  const due = finishedIssues(session.tasks, { ready: [...found, ...(before?.ready ?? [])], settled })
  for (const issue of due) {
    const isListed = found.some(listed => listed.id === issue)
    if (await settleIssue(issue, { isListed, session, place, syncContext: context })) settled.push(issue)
  }
  const isNews = before === null || JSON.stringify(before.ready) !== JSON.stringify(found) || due.length > 0
  if (!isSparing || isNews) await call('syncing it', signal => tracker.sync(place, signal)).catch(onError)
  const ready = due.length === 0 ? found : await read()
  save({ version, ready, settled })
}

/** Closes a finished issue. Returns true when it needs nothing more. */
async function settleIssue(
  issue: string,
  options: { isListed: boolean; session: Session; place: TrackerContext; syncContext: SyncContext },
): Promise<boolean> {
  const { isListed, session, place, syncContext } = options
  const { tracker, call, onCloseFailed } = syncContext
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
