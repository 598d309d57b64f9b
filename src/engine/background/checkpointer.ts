import { CHECKPOINT_TRIGGERS, type CheckpointTrigger } from '../../core/checkpoint/checkpoint.ts'
import type { SessionId } from '../../core/session/session-id-and-name.ts'
import { decide } from '../../core/session/decision-table.ts'
import type { Session } from '../../core/session/session-state.ts'
import type { Signal } from '../../core/session/signals.ts'
import type { Duration, Instant } from '../../lib/time.ts'
import { Trouble, rootReason } from '../../lib/errors.ts'
import type { Job, JobFailure } from '../../lib/keyed-jobs.ts'
import { KeyedMutex } from '../../lib/keyed-mutex.ts'
import { fixedPause } from '../../lib/retry-policy.ts'
import { NotSaved, type SaveResult, checkpointTargetOf } from '../../ports/checkpoints.ts'
import { CheckpointSchedule } from './checkpoint-schedule.ts'
import { checkpointRequest } from './build-checkpoint-request.ts'
import { withTimeout } from '../../lib/timeout.ts'
import type { EngineContext } from '../context.ts'
import { SessionReconciler } from './reconciler.ts'

/** Milliseconds. The first checkpoint of a large repository whose files are not in memory takes seconds. */
const SAVE_TIMEOUT: Duration = 120_000
/** Milliseconds. No session waits longer than this for its start. */
const START_SAVE_TIMEOUT: Duration = 10_000
/** Milliseconds before the next try after a failure, while a request is pending. */
const RETRY = fixedPause(60_000)
/** Milliseconds; the next attempt has started by then. */
const DELAY_AFTER_RESTART: Duration = 250
/** Milliseconds; further messages or tasks usually follow the first. */
const DELAY_AFTER_NEWS: Duration = 5_000
/** The checkpointer prunes old checkpoints after each this many new ones. */
const PRUNE_EVERY = 25

/** A restart comes before its checkpoint, because git would take processor time from it. */
const DELAYS: Partial<Record<CheckpointTrigger, Duration>> = { restart: DELAY_AFTER_RESTART, news: DELAY_AFTER_NEWS }

interface Save {
  trigger: CheckpointTrigger
  /** Undefined until the save begins. */
  startedAt: Instant | undefined
  readonly done: Promise<SaveResult>
}

/**
 * Saves the work at intervals while an agent runs, and at each end of an attempt or session. The session holds the
 * pending request, and receives the result as a signal. The work never waits for a checkpoint, except before its start.
 */
export class Checkpointer extends SessionReconciler {
  readonly #context: EngineContext
  readonly #report: (sessionId: SessionId, signal: Signal) => Promise<void>
  /** The checkpointer calls this at each save: the issue sync runs at the same moments. */
  readonly #onSave: (session: Session, trigger: CheckpointTrigger) => void
  readonly #schedule: CheckpointSchedule
  readonly #mutex = new KeyedMutex()
  /** Requested saves that have not begun. A further request for the same session can only raise the trigger. */
  readonly #queued = new Map<string, Save>()
  readonly #running = new Map<string, Save>()
  /** Saved checkpoints that the session has not recorded yet. The next save may begin before the record. */
  readonly #unrecorded = new Map<string, Signal>()

  constructor(
    context: EngineContext,
    report: (sessionId: SessionId, signal: Signal) => Promise<void>,
    onSave: (session: Session, trigger: CheckpointTrigger) => void,
  ) {
    super(context, session => this.#wanted(session))
    this.#context = context
    this.#report = report
    this.#onSave = onSave
    this.#schedule = new CheckpointSchedule(context.clock, context.timings.editDelay)
  }

  #wanted(session: Session): Job[] {
    const { id } = session.spec
    if (isRecorded(this.#unrecorded.get(id), session)) this.#unrecorded.delete(id)
    if (this.#isEnabled(session)) return [...this.#requestedJobs(session), ...this.#scheduledJobs(session)]
    this.#schedule.forget(id)
    return []
  }

  /** A request that the session has recorded is retried until a checkpoint covers it. */
  #requestedJobs({ spec, saved: { wanted } }: Session): Job[] {
    if (wanted === null) return []
    return [
      {
        key: `request of ${wanted.at}`,
        dueAt: this.#context.clock.now() + (DELAYS[wanted.trigger] ?? 0),
        retry: RETRY,
        run: () => this.#saveFor(spec.id, wanted),
        onFailure: failure => this.#reportUnexpected(spec.id, failure),
      },
    ]
  }

  /** A scheduled checkpoint that fails is not retried: the next one covers it. */
  #scheduledJobs(session: Session): Job[] {
    return this.#schedule.dueCheckpoints(session).map(({ trigger, dueAt }) => ({
      key: trigger,
      dueAt,
      retry: RETRY,
      run: () => {
        this.#schedule.begin(session, trigger)
        return this.#saveInBackground(session.spec.id, trigger)
      },
    }))
  }

  /** Saves, or waits for a running save that began after the request. */
  async #saveFor(id: SessionId, { trigger, at }: { trigger: CheckpointTrigger; at: Instant }): Promise<void> {
    const running = this.#running.get(id)
    const isCovered = running?.startedAt !== undefined && running.startedAt >= at && !this.#queued.has(id)
    await (isCovered ? running.done : this.saveNow(id, trigger))
  }

  /** The session has the failure of a save as a signal; any other error is a bug. */
  #reportUnexpected(id: SessionId, { cause }: Pick<JobFailure, 'cause'>): void {
    if (this.stopping.aborted || cause instanceof Trouble || cause instanceof NotSaved) return
    this.#context.onTrouble(id, cause)
  }

  /** Saves the state of the working tree before the first attempt. */
  async saveBeforeStart(session: Session): Promise<Signal[]> {
    if (!this.#isEnabled(session)) return []
    const at = this.#context.clock.now()
    const { id } = session.spec
    try {
      return await this.#mutex.run(id, async () => {
        const signal = checkpointSignal(await this.#save(session, 'start', START_SAVE_TIMEOUT), at, session)
        this.#unrecorded.set(id, signal)
        return [signal]
      })
    } catch (cause) {
      return [checkpointFailureSignal(cause, at, session)]
    }
  }

  /** Saves at once. Throws when saving fails. */
  saveNow(id: SessionId, trigger: CheckpointTrigger): Promise<SaveResult> {
    const queued = this.#queued.get(id)
    if (queued !== undefined) {
      if (CHECKPOINT_TRIGGERS.indexOf(trigger) > CHECKPOINT_TRIGGERS.indexOf(queued.trigger)) queued.trigger = trigger
      return queued.done
    }
    const save: Omit<Save, 'done'> = { trigger, startedAt: undefined }
    const done = this.#saveAndReport(id, save as Save)
    this.#queued.set(id, Object.assign(save, { done }))
    return done
  }

  /** Runs the action while no save of this session runs. */
  runExclusively<T>(id: SessionId, action: () => Promise<T>): Promise<T> {
    return this.#mutex.run(id, action)
  }

  /** Saves the pending request of a session before its removal. */
  async saveRequested(id: SessionId): Promise<void> {
    const wanted = this.#context.store.load(id)?.saved.wanted ?? null
    if (wanted !== null) await this.#saveInBackground(id, wanted.trigger)
  }

  /** Removes all checkpoints of a session. */
  removeCheckpoints({ spec }: Session): Promise<void> {
    const { checkpoints } = this.#context
    return this.#mutex.run(spec.id, async () => {
      if (checkpoints.isRepository(spec.cwd)) await checkpoints.removeAll(checkpointTargetOf(spec))
    })
  }

  override async stop(): Promise<void> {
    await Promise.all([super.stop(), this.#mutex.idle()])
  }

  #isEnabled({ spec }: Session): boolean {
    return spec.supervision.saving.mode !== 'off' && this.#context.checkpoints.isRepository(spec.cwd)
  }

  /** Saves without a waiting caller. The session receives a failure as a signal. */
  async #saveInBackground(id: SessionId, trigger: CheckpointTrigger): Promise<void> {
    await this.saveNow(id, trigger).catch(cause => this.#reportUnexpected(id, { cause }))
  }

  /** Reports after it has released the lock, because the listener may wait for the next save. */
  async #saveAndReport(id: SessionId, save: Save): Promise<SaveResult> {
    const result = await this.#mutex.run(id, async () => {
      this.#queued.delete(id)
      const session = this.#loadWithUnrecorded(id)
      if (session === undefined) throw new Trouble('making a checkpoint', 'the session is gone')
      const at = this.#context.clock.now()
      save.startedAt = at
      this.#running.set(id, save)
      this.#onSave(session, save.trigger)
      return this.#save(session, save.trigger, SAVE_TIMEOUT).then(
        saved => {
          const signal = checkpointSignal(saved, at, session)
          this.#unrecorded.set(id, signal)
          return { kept: saved, signal }
        },
        cause => ({ cause, signal: checkpointFailureSignal(cause, at, session) }),
      )
    })
    if (this.stopping.aborted) throw new Trouble('making a checkpoint', 'the supervisor is being stopped')
    await this.#report(id, result.signal).finally(() => {
      if (this.#running.get(id) === save) this.#running.delete(id)
      if (this.#unrecorded.get(id) === result.signal) this.#unrecorded.delete(id)
    })
    if ('kept' in result) return result.kept
    throw result.cause
  }

  /** Returns the session with the saved but unrecorded checkpoint applied. */
  #loadWithUnrecorded(id: SessionId): Session | undefined {
    const session = this.#context.store.load(id)
    const signal = this.#unrecorded.get(id)
    if (session === undefined || signal === undefined || isRecorded(signal, session)) return session
    return decide(session, signal, this.#context.timings).session
  }

  async #save(session: Session, trigger: CheckpointTrigger, limit: Duration): Promise<SaveResult> {
    const { agents, checkpoints, clock, store, runtime } = this.#context
    store.assertEpoch()
    const began = clock.monotonic()
    const { spec } = session
    const request = checkpointRequest(session, trigger, { agents, clock, runtime })
    const save = (signal: AbortSignal): Promise<SaveResult> =>
      checkpoints.save(checkpointTargetOf(spec), request, signal)
    const options = { clock, limit, doing: 'making a checkpoint', signal: this.stopping }
    // A save that fails after a long time costs as much as one that succeeds.
    const saved = await withTimeout(save, options).finally(() => {
      this.#schedule.setCost(spec.id, clock.monotonic() - began)
    })
    if (saved.isNew && saved.checkpoint.number % PRUNE_EVERY === 0) await this.#prune(session)
    return saved
  }

  async #prune({ spec }: Session): Promise<void> {
    const { checkpoints, clock, onTrouble } = this.#context
    await checkpoints.prune(checkpointTargetOf(spec), clock.now()).catch(cause => onTrouble(spec.id, cause))
  }
}

/** Returns true when the session has recorded the saved checkpoint. */
function isRecorded(signal: Signal | undefined, { saved }: Session): boolean {
  return signal?.type === 'checkpoint.saved' && (saved.last?.number ?? 0) >= signal.checkpoint.number
}

/** Milliseconds. After an hour of failures, the checkpointer waits for the next request. */
const GIVE_UP_AFTER: Duration = 3_600_000

/**
 * Returns the signal for a saved checkpoint. A checkpoint that an earlier supervisor saved but did not record counts as
 * new.
 */
function checkpointSignal({ checkpoint }: SaveResult, at: Instant, { saved }: Session): Signal {
  const isNews = saved.last === null || saved.last.number < checkpoint.number
  return isNews
    ? { at, type: 'checkpoint.saved', checkpoint }
    : { at, type: 'checkpoint.unneeded', leftOut: checkpoint.leftOut }
}

function checkpointFailureSignal(cause: unknown, at: Instant, { saved }: Session): Signal {
  const isHopeless = cause instanceof NotSaved || (cause instanceof Trouble && !cause.mayHelpToRetry)
  const isTooOld = saved.wanted !== null && at - saved.wanted.at > GIVE_UP_AFTER
  return { at, type: 'checkpoint.failed', reason: rootReason(cause), isFinal: isHopeless || isTooOld }
}
