import type { SessionId } from '../../core/session/session-id-and-name.ts'
import type { Session } from '../../core/session/session-state.ts'
import { type Job, KeyedJobs } from '../../lib/keyed-jobs.ts'
import type { Timings } from '../../core/session/supervisor-timings.ts'
import type { Store } from '../../ports/store.ts'
import type { EngineContext } from '../context.ts'

/** The functions of the supervisor that a reconciler needs. */
export interface ReconcilerContext extends Pick<EngineContext, 'clock' | 'onTrouble'> {
  readonly store: Pick<Store, 'assertEpoch'>
  readonly timings: Pick<Timings, 'servicePause'>
}

/** A background service as data: its subjects, and the jobs that each of them wants in its present state. */
export interface Service<Subject, Key extends string = SessionId> {
  /** Returns the present state of a subject; undefined when it is gone and wants nothing. */
  readonly find: (key: Key) => Subject | undefined
  /** Derives all jobs from the state. The reconciler calls this after each change and after each job. */
  readonly wanted: (subject: Subject) => readonly Job[]
}

/**
 * Makes the jobs that run equal to the jobs that are wanted. All jobs follow from records, so that a new supervisor
 * continues where the last one was. Each job checks the epoch before it acts.
 */
export class Reconciler<Subject, Key extends string = SessionId> {
  readonly #context: ReconcilerContext
  readonly #service: Service<Subject, Key>
  readonly #jobs: KeyedJobs<Key>
  /** Timers of the subjects whose state could not be read. */
  readonly #unreadable = new Map<string, () => void>()

  constructor(context: ReconcilerContext, service: Service<Subject, Key>) {
    this.#context = context
    this.#service = service
    this.#jobs = new KeyedJobs<Key>({
      clock: context.clock,
      beforeStart: () => context.store.assertEpoch(),
      onFinished: key => this.update(key),
      onError: (key, cause) => context.onTrouble(key, cause),
    })
  }

  /** Aborts when `stop` is called. */
  get stopping(): AbortSignal {
    return this.#jobs.stopping
  }

  /** Derives the jobs of a subject anew. A caller that knows the present state passes it. */
  update(key: Key, state?: Subject): void {
    if (this.stopping.aborted) return
    try {
      const subject = state ?? this.#service.find(key)
      this.#jobs.want(key, subject === undefined ? [] : this.#service.wanted(subject))
    } catch (cause) {
      this.#context.onTrouble(key, cause)
      this.#updateLater(key)
    }
  }

  /** Starts nothing more, aborts running jobs, and resolves when they have ended. */
  async stop(): Promise<void> {
    for (const cancel of this.#unreadable.values()) cancel()
    await this.#jobs.stop()
  }

  #updateLater(key: Key): void {
    if (this.#unreadable.has(key)) return
    const { clock, timings } = this.#context
    const retry = (): void => {
      this.#unreadable.delete(key)
      this.update(key)
    }
    this.#unreadable.set(key, clock.schedule(clock.now() + timings.servicePause, retry))
  }
}

/** Follows sessions: the jobs of each derive from its record. */
export class SessionReconciler {
  readonly #reconciler: Reconciler<Session>
  readonly #wantedJobs: (session: Session) => readonly Job[]

  constructor(
    context: ReconcilerContext & { readonly store: Pick<Store, 'load'> },
    wanted: (session: Session) => readonly Job[],
  ) {
    this.#wantedJobs = wanted
    this.#reconciler = new Reconciler(context, { find: id => context.store.load(id), wanted })
  }

  /** The engine calls this with the current session after each change. */
  onSessionChanged(session: Session): void {
    this.#reconciler.update(session.spec.id, session)
  }

  /** Returns true when the session has a job to do. */
  isWanted(session: Session): boolean {
    return this.#wantedJobs(session).length > 0
  }

  get stopping(): AbortSignal {
    return this.#reconciler.stopping
  }

  stop(): Promise<void> {
    return this.#reconciler.stop()
  }
}
