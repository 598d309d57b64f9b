import { TRIGGERS, type Trigger } from '../core/checkpoint.ts'
import { decide } from '../core/decide.ts'
import type { Session } from '../core/session.ts'
import type { Signal } from '../core/signals.ts'
import type { Duration, Instant } from '../lib/time.ts'
import { Trouble } from '../lib/trouble.ts'
import { Turnstile } from '../lib/turnstile.ts'
import { type Kept, Unkept } from '../ports/checkpoints.ts'
import { failureOf, tell } from './checkpoint-signals.ts'
import { EditWatch } from './edit-watch.ts'
import { keepingOf } from '../ports/keeping-of.ts'
import { occasionOf } from './occasion.ts'
import { withLimit } from './with-limit.ts'
import type { World } from './world.ts'

/** A first checkpoint of a large repository whose files are not in memory takes seconds. */
const PATIENCE: Duration = 120_000
/** Nobody's work waits longer than this to begin. */
const START_PATIENCE: Duration = 10_000
/** What did not work is tried again after this, while it is wanted. */
const TRY_AGAIN: Duration = 60_000
/** The next attempt has begun by then. */
const AFTER_RESTART: Duration = 250
/** One message or task is seldom the last. */
const AFTER_NEWS: Duration = 5_000
/** After so many checkpoints it is looked whether some are too many. */
const THIN_EVERY = 25

/** A restart is made first: git would take its time away. */
const PAUSES: Partial<Record<Trigger, Duration>> = { restart: AFTER_RESTART, news: AFTER_NEWS }

interface Job {
  trigger: Trigger
  readonly done: Promise<Kept>
}

/**
 * Sees to it that the work is saved: now and then while an agent is at it, and wherever something came to an end. What is
 * wanted stands in the session; what was saved is told to it. The work never waits for it, except to begin.
 */
export class Safekeeper {
  readonly #world: World
  readonly #report: (sessionId: string, signal: Signal) => Promise<void>
  /** Told whenever work is being saved: others have something to keep at the same moments. */
  readonly #onMoment: (session: Session, trigger: Trigger) => void
  readonly #watch: EditWatch
  readonly #turnstile = new Turnstile()
  /** Asked for and not begun: another wish for the same session changes nothing but the reason. */
  readonly #queued = new Map<string, Job>()
  /** What is being saved, and since when. */
  readonly #began = new Map<string, Instant>()
  /** What was saved and is not yet recorded, by session: the next checkpoint may begin before it is. */
  readonly #unrecorded = new Map<string, Signal>()
  /** What is saved some time from now, and when the latest wish that waits for it was made. */
  readonly #later = new Map<string, { readonly cancel: () => void; readonly wantedAt: Instant }>()
  readonly #ending = new AbortController()

  constructor(
    world: World,
    report: (sessionId: string, signal: Signal) => Promise<void>,
    onMoment: (session: Session, trigger: Trigger) => void,
  ) {
    this.#world = world
    this.#report = report
    this.#onMoment = onMoment
    this.#watch = new EditWatch(world.clock, (id, trigger) => void this.#quietly(id, trigger))
  }

  /** Told of each session as it is now, as often as it changes. */
  follow(session: Session): void {
    if (this.#ending.signal.aborted || !this.#isKept(session)) return
    this.#watch.follow(session)
    const { id } = session.spec
    if (isRecorded(this.#unrecorded.get(id), session)) this.#unrecorded.delete(id)
    const { wanted } = session.saved
    if (wanted === null || this.#queued.has(id) || wanted.at <= this.#heededAt(id)) return
    const pause = PAUSES[wanted.trigger]
    if (pause === undefined) void this.#quietly(id, wanted.trigger)
    else this.#after(pause, id)
  }

  /** Wishes up to this moment will be met. */
  #heededAt(id: string): Instant {
    const moments = [this.#later.get(id)?.wantedAt, this.#began.get(id)]
    return Math.max(...moments.map(moment => moment ?? Number.NEGATIVE_INFINITY))
  }

  #after(pause: Duration, id: string): void {
    this.#later.get(id)?.cancel()
    const { clock, store } = this.#world
    const wantedAt = store.load(id)?.saved.wanted?.at ?? clock.now()
    const cancel = clock.ring(clock.now() + pause, () => {
      this.#later.delete(id)
      const wanted = store.load(id)?.saved.wanted ?? null
      if (wanted !== null) void this.#quietly(id, wanted.trigger)
    })
    this.#later.set(id, { cancel, wantedAt })
  }

  /** What is there before an agent begins. */
  async before(session: Session): Promise<Signal[]> {
    if (!this.#isKept(session)) return []
    const at = this.#world.clock.now()
    const { id } = session.spec
    try {
      return await this.#turnstile.pass(id, async () => {
        const signal = tell(await this.#save(session, 'start', START_PATIENCE), at, session)
        this.#unrecorded.set(id, signal)
        return [signal]
      })
    } catch (cause) {
      return [failureOf(cause, at, session)]
    }
  }

  /** Now, because somebody asks. Throws when it cannot be done. */
  now(id: string, trigger: Trigger): Promise<Kept> {
    const queued = this.#queued.get(id)
    if (queued !== undefined) {
      if (TRIGGERS.indexOf(trigger) > TRIGGERS.indexOf(queued.trigger)) queued.trigger = trigger
      return queued.done
    }
    const job: { trigger: Trigger; done?: Promise<Kept> } = { trigger }
    const done = this.#saveAndTell(id, job)
    this.#queued.set(id, Object.assign(job, { done }))
    return done
  }

  /** Does something with what is kept, while nothing is being saved. */
  alone<T>(id: string, deed: () => Promise<T>): Promise<T> {
    return this.#turnstile.pass(id, deed)
  }

  /** Saves what is still wanted, because the session is about to be removed. */
  async settle(id: string): Promise<void> {
    const wanted = this.#world.store.load(id)?.saved.wanted ?? null
    if (wanted !== null) await this.#quietly(id, wanted.trigger)
  }

  /** Removes all that was kept of a session. */
  forget({ spec }: Session): Promise<void> {
    const { checkpoints } = this.#world
    return this.#turnstile.pass(spec.id, async () => {
      if (checkpoints.isPlace(spec.cwd)) await checkpoints.forget(keepingOf(spec))
    })
  }

  async stop(): Promise<void> {
    this.#ending.abort()
    this.#watch.stop()
    for (const { cancel } of this.#later.values()) cancel()
    await this.#turnstile.idle()
  }

  #isKept({ spec }: Session): boolean {
    return spec.saving.mode !== 'off' && this.#world.checkpoints.isPlace(spec.cwd)
  }

  /** Nobody waits for it: what goes wrong is told to the session, and tried again while it is wanted. */
  async #quietly(id: string, trigger: Trigger): Promise<void> {
    try {
      await this.now(id, trigger)
    } catch (cause) {
      if (this.#ending.signal.aborted) return
      if (!(cause instanceof Trouble) && !(cause instanceof Unkept)) this.#world.onTrouble(id, cause)
    }
  }

  /** It is told when the next may begin already: whoever hears of it may be waiting for that one. */
  async #saveAndTell(id: string, job: Pick<Job, 'trigger'>): Promise<Kept> {
    const told = await this.#turnstile.pass(id, async () => {
      this.#queued.delete(id)
      const session = this.#known(id)
      if (session === undefined) throw new Trouble('making a checkpoint', 'the session is gone')
      const at = this.#world.clock.now()
      this.#began.set(id, at)
      this.#onMoment(session, job.trigger)
      return this.#save(session, job.trigger, PATIENCE).then(
        kept => {
          const signal = tell(kept, at, session)
          this.#unrecorded.set(id, signal)
          return { kept, signal }
        },
        cause => ({ cause, signal: failureOf(cause, at, session) }),
      )
    })
    if (this.#ending.signal.aborted) throw new Trouble('making a checkpoint', 'the supervisor is being stopped')
    await this.#report(id, told.signal).finally(() => {
      this.#began.delete(id)
      if (this.#unrecorded.get(id) === told.signal) this.#unrecorded.delete(id)
    })
    if ('kept' in told) return told.kept
    this.#after(TRY_AGAIN, id)
    throw told.cause
  }

  /** The session as it will be once all that was saved of it is recorded. */
  #known(id: string): Session | undefined {
    const session = this.#world.store.load(id)
    const signal = this.#unrecorded.get(id)
    if (session === undefined || signal === undefined || isRecorded(signal, session)) return session
    return decide(session, signal, this.#world.rules).session
  }

  async #save(session: Session, trigger: Trigger, limit: Duration): Promise<Kept> {
    const { agents, checkpoints, clock, store, work } = this.#world
    store.assertEpoch()
    const began = clock.awake()
    const { spec } = session
    const occasion = occasionOf(session, trigger, { agents, clock, work })
    const save = (signal: AbortSignal): Promise<Kept> => checkpoints.save(keepingOf(spec), occasion, signal)
    const given = { clock, limit, doing: 'making a checkpoint', ending: this.#ending.signal }
    const kept = await withLimit(save, given)
    this.#watch.saved(spec.id, clock.awake() - began)
    if (kept.isNew && kept.checkpoint.number % THIN_EVERY === 0) await this.#thin(session)
    return kept
  }

  async #thin({ spec }: Session): Promise<void> {
    const { checkpoints, clock, onTrouble } = this.#world
    await checkpoints.thin(keepingOf(spec), clock.now()).catch(cause => onTrouble(spec.id, cause))
  }
}

/** Whether a session shows what was saved of it. */
function isRecorded(signal: Signal | undefined, { saved }: Session): boolean {
  return signal?.type === 'checkpoint.saved' && (saved.last?.number ?? 0) >= signal.checkpoint.number
}
