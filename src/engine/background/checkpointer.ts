import { CHECKPOINT_TRIGGERS, type CheckpointTrigger } from '../../core/checkpoint/checkpoint.ts'
import { decide } from '../../core/session/decide.ts'
import type { Session } from '../../core/session/session.ts'
import type { Signal } from '../../core/session/signals.ts'
import type { Duration, Instant } from '../../lib/time.ts'
import { Trouble, rootReason } from '../../lib/errors.ts'
import { KeyedMutex } from '../../lib/keyed-mutex.ts'
import { NotSaved, type SaveResult, checkpointTargetOf } from '../../ports/checkpoints.ts'
import { CheckpointTimer } from './checkpoint-timer.ts'
import { checkpointRequest } from './checkpoint-request.ts'
import { withTimeout } from '../retry.ts'
import type { EngineContext } from '../context.ts'

/** A first checkpoint of a large repository whose files are not in memory takes seconds. */
const SAVE_TIMEOUT: Duration = 120_000
/** Nobody's work waits longer than this to begin. */
const START_SAVE_TIMEOUT: Duration = 10_000
/** What did not work is tried again after this, while it is wanted. */
const RETRY_DELAY: Duration = 60_000
/** The next attempt has begun by then. */
const DELAY_AFTER_RESTART: Duration = 250
/** One message or task is seldom the last. */
const DELAY_AFTER_NEWS: Duration = 5_000
/** After so many checkpoints it is looked whether some are too many. */
const PRUNE_EVERY = 25

/** A restart is made first: git would take its time away. */
const DELAYS: Partial<Record<CheckpointTrigger, Duration>> = { restart: DELAY_AFTER_RESTART, news: DELAY_AFTER_NEWS }

interface QueuedSave {
  trigger: CheckpointTrigger
  readonly done: Promise<SaveResult>
}

/**
 * Sees to it that the work is saved: now and then while an agent is at it, and wherever something came to an end. What is
 * wanted stands in the session; what was saved is told to it. The work never waits for it, except to begin.
 */
export class Checkpointer {
  readonly #context: EngineContext
  readonly #report: (sessionId: string, signal: Signal) => Promise<void>
  /** Told whenever work is being saved: others have something to keep at the same moments. */
  readonly #onSave: (session: Session, trigger: CheckpointTrigger) => void
  readonly #timer: CheckpointTimer
  readonly #mutex = new KeyedMutex()
  /** Asked for and not begun: another wish for the same session changes nothing but the reason. */
  readonly #queued = new Map<string, QueuedSave>()
  /** What is being saved, and since when. */
  readonly #startedAt = new Map<string, Instant>()
  /** What was saved and is not yet recorded, by session: the next checkpoint may begin before it is. */
  readonly #unrecorded = new Map<string, Signal>()
  /** What is saved some time from now, and when the latest wish that waits for it was made. */
  readonly #delayed = new Map<string, { readonly cancel: () => void; readonly wantedAt: Instant }>()
  readonly #abort = new AbortController()

  constructor(
    context: EngineContext,
    report: (sessionId: string, signal: Signal) => Promise<void>,
    onMoment: (session: Session, trigger: CheckpointTrigger) => void,
  ) {
    this.#context = context
    this.#report = report
    this.#onSave = onMoment
    this.#timer = new CheckpointTimer(context.clock, (id, trigger) => void this.#saveInBackground(id, trigger))
  }

  /** Told of each session as it is now, as often as it changes. */
  onSessionChanged(session: Session): void {
    if (this.#abort.signal.aborted || !this.#isEnabled(session)) return
    this.#timer.onSessionChanged(session)
    const { id } = session.spec
    if (isRecorded(this.#unrecorded.get(id), session)) this.#unrecorded.delete(id)
    const { wanted } = session.saved
    if (wanted === null || this.#queued.has(id) || wanted.at <= this.#coveredUntil(id)) return
    const pause = DELAYS[wanted.trigger]
    if (pause === undefined) void this.#saveInBackground(id, wanted.trigger)
    else this.#saveAfter(pause, id)
  }

  /** Wishes up to this moment will be met. */
  #coveredUntil(id: string): Instant {
    const moments = [this.#delayed.get(id)?.wantedAt, this.#startedAt.get(id)]
    return Math.max(...moments.map(moment => moment ?? Number.NEGATIVE_INFINITY))
  }

  #saveAfter(pause: Duration, id: string): void {
    this.#delayed.get(id)?.cancel()
    const { clock, store } = this.#context
    const wantedAt = store.load(id)?.saved.wanted?.at ?? clock.now()
    const cancel = clock.schedule(clock.now() + pause, () => {
      this.#delayed.delete(id)
      const wanted = store.load(id)?.saved.wanted ?? null
      if (wanted !== null) void this.#saveInBackground(id, wanted.trigger)
    })
    this.#delayed.set(id, { cancel, wantedAt })
  }

  /** What is there before an agent begins. */
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

  /** Now, because somebody asks. Throws when it cannot be done. */
  saveNow(id: string, trigger: CheckpointTrigger): Promise<SaveResult> {
    const queued = this.#queued.get(id)
    if (queued !== undefined) {
      if (CHECKPOINT_TRIGGERS.indexOf(trigger) > CHECKPOINT_TRIGGERS.indexOf(queued.trigger)) queued.trigger = trigger
      return queued.done
    }
    const job: { trigger: CheckpointTrigger; done?: Promise<SaveResult> } = { trigger }
    const done = this.#saveAndReport(id, job)
    this.#queued.set(id, Object.assign(job, { done }))
    return done
  }

  /** Does something with what is kept, while nothing is being saved. */
  runExclusively<T>(id: string, action: () => Promise<T>): Promise<T> {
    return this.#mutex.run(id, action)
  }

  /** Saves what is still wanted, because the session is about to be removed. */
  async saveRequested(id: string): Promise<void> {
    const wanted = this.#context.store.load(id)?.saved.wanted ?? null
    if (wanted !== null) await this.#saveInBackground(id, wanted.trigger)
  }

  /** Removes all that was kept of a session. */
  removeCheckpoints({ spec }: Session): Promise<void> {
    const { checkpoints } = this.#context
    return this.#mutex.run(spec.id, async () => {
      if (checkpoints.isRepository(spec.cwd)) await checkpoints.removeAll(checkpointTargetOf(spec))
    })
  }

  async stop(): Promise<void> {
    this.#abort.abort()
    this.#timer.stop()
    for (const { cancel } of this.#delayed.values()) cancel()
    await this.#mutex.idle()
  }

  #isEnabled({ spec }: Session): boolean {
    return spec.saving.mode !== 'off' && this.#context.checkpoints.isRepository(spec.cwd)
  }

  /** Nobody waits for it: what goes wrong is told to the session, and tried again while it is wanted. */
  async #saveInBackground(id: string, trigger: CheckpointTrigger): Promise<void> {
    try {
      await this.saveNow(id, trigger)
    } catch (cause) {
      if (this.#abort.signal.aborted) return
      if (!(cause instanceof Trouble) && !(cause instanceof NotSaved)) this.#context.onTrouble(id, cause)
    }
  }

  /** It is told when the next may begin already: whoever hears of it may be waiting for that one. */
  async #saveAndReport(id: string, job: Pick<QueuedSave, 'trigger'>): Promise<SaveResult> {
    const told = await this.#mutex.run(id, async () => {
      this.#queued.delete(id)
      const session = this.#loadWithUnrecorded(id)
      if (session === undefined) throw new Trouble('making a checkpoint', 'the session is gone')
      const at = this.#context.clock.now()
      this.#startedAt.set(id, at)
      this.#onSave(session, job.trigger)
      return this.#save(session, job.trigger, SAVE_TIMEOUT).then(
        kept => {
          const signal = checkpointSignal(kept, at, session)
          this.#unrecorded.set(id, signal)
          return { kept, signal }
        },
        cause => ({ cause, signal: checkpointFailureSignal(cause, at, session) }),
      )
    })
    if (this.#abort.signal.aborted) throw new Trouble('making a checkpoint', 'the supervisor is being stopped')
    await this.#report(id, told.signal).finally(() => {
      this.#startedAt.delete(id)
      if (this.#unrecorded.get(id) === told.signal) this.#unrecorded.delete(id)
    })
    if ('kept' in told) return told.kept
    this.#saveAfter(RETRY_DELAY, id)
    throw told.cause
  }

  /** The session as it will be once all that was saved of it is recorded. */
  #loadWithUnrecorded(id: string): Session | undefined {
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
    const options = { clock, limit, doing: 'making a checkpoint', ending: this.#abort.signal }
    const kept = await withTimeout(save, options)
    this.#timer.setCost(spec.id, clock.monotonic() - began)
    if (kept.isNew && kept.checkpoint.number % PRUNE_EVERY === 0) await this.#prune(session)
    return kept
  }

  async #prune({ spec }: Session): Promise<void> {
    const { checkpoints, clock, onTrouble } = this.#context
    await checkpoints.prune(checkpointTargetOf(spec), clock.now()).catch(cause => onTrouble(spec.id, cause))
  }
}

/** Whether a session shows what was saved of it. */
function isRecorded(signal: Signal | undefined, { saved }: Session): boolean {
  return signal?.type === 'checkpoint.saved' && (saved.last?.number ?? 0) >= signal.checkpoint.number
}

/** What could not be saved for so long is not tried again until there is another reason to. */
const GIVE_UP_AFTER: Duration = 3_600_000

/** One that was made by a supervisor that did not live to tell of it is news, too. */
function checkpointSignal({ checkpoint }: SaveResult, at: Instant, { saved }: Session): Signal {
  const isNews = saved.last === null || saved.last.number < checkpoint.number
  return isNews ? { at, type: 'checkpoint.saved', checkpoint } : { at, type: 'checkpoint.unneeded' }
}

function checkpointFailureSignal(cause: unknown, at: Instant, { saved }: Session): Signal {
  const isHopeless = cause instanceof NotSaved || (cause instanceof Trouble && !cause.mayHelpToRetry)
  const isTooOld = saved.wanted !== null && at - saved.wanted.at > GIVE_UP_AFTER
  return { at, type: 'checkpoint.failed', reason: rootReason(cause), isFinal: isHopeless || isTooOld }
}
