import { isClockRolledBack } from '../core/policy/restart-schedule.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import { sessionDueAt, type Session } from '../core/session/session-state.ts'
import type { Signal } from '../core/session/signals.ts'
import { attemptRef } from '../ports/runtime.ts'
import { shownOutput } from './perform.ts'
import type { EngineContext } from './context.ts'

/** The engine's functions that the periodic check calls. */
export interface PeriodicCheckContext {
  /** Returns false when another supervisor has taken over; then this one must do nothing more. */
  holdsEpoch(): boolean
  /** Runs the action under the session's lock. */
  runExclusively(sessionId: SessionId, action: () => Promise<void>): Promise<void>
  dispatch(sessionId: SessionId, signal: Signal): Promise<void>
}

/** Finds changes without a notification: lost panes and recorders, and due times that a clock rollback has delayed. */
export class PeriodicCheck {
  readonly #context: EngineContext
  readonly #actions: PeriodicCheckContext
  #currentRepair: Promise<void> | undefined

  constructor(context: EngineContext, actions: PeriodicCheckContext) {
    this.#context = context
    this.#actions = actions
  }

  /** Records the sizes of the logs, and returns the sessions that an observation may find changed. */
  sessionsToObserve(): Session[] {
    const { store, runtime } = this.#context
    const live = store.live()
    for (const session of live)
      void this.#actions.runExclusively(session.spec.id, async () =>
        runtime.recordLogSize(attemptRef(session), this.#shownOutput(session)),
      )
    return live.filter(session => !this.#isKnownToRun(session))
  }

  /** Fires due times now that a clock set back would delay by hours. */
  wakeAfterClockRollback(): void {
    const { store, clock, timings } = this.#context
    const at = clock.now()
    for (const session of store.live())
      if (isClockRolledBack(session, at, timings))
        void this.#actions.dispatch(session.spec.id, { at, type: 'clock.due' })
  }

  /**
   * Returns the unfinished endings of earlier supervisors whose time is over, so that the engine escalates them instead
   * of beginning them again.
   */
  overdueStops(): Session[] {
    const { store, clock, timings } = this.#context
    const at = clock.now()
    const endings = store.live().filter(({ phase }) => phase.name === 'stopping')
    return endings.filter(session => (sessionDueAt(session) ?? at) <= at || isClockRolledBack(session, at, timings))
  }

  /** Restores lost panes and recorders of live sessions. Concurrent callers share one repair. */
  repair(): Promise<void> {
    this.#currentRepair ??= this.#repairAll().finally(() => {
      this.#currentRepair = undefined
    })
    return this.#currentRepair
  }

  async #repairAll(): Promise<void> {
    if (!this.#actions.holdsEpoch()) return
    const { store, runtime } = this.#context
    const live = store.live().filter(isRunning)
    const refs = live.map(session => ({ ...attemptRef(session), show: this.#shownOutput(session) }))
    // The lock matters: a session that ends meanwhile would get a pane that nobody closes.
    await runtime.repair(refs, (id, action) =>
      this.#actions.runExclusively(id, async () => {
        const session = store.load(id)
        if (session !== undefined && isRunning(session)) await action()
      }),
    )
  }

  /** Returns true when the process is alive and its output is not parsed: an observation would find nothing new. */
  #isKnownToRun({ spec, phase, attempt: { process, exit } }: Session): boolean {
    const { runtime, agents } = this.#context
    if (phase.name !== 'running' || process === null || exit !== null) return false
    return agents(spec.agent).readLine === undefined && runtime.isProcessAlive(process)
  }

  #shownOutput({ spec }: Session): ReturnType<typeof shownOutput> {
    return shownOutput(this.#context.agents(spec.agent))
  }
}

/** A session without an exit record may have ended: its shim was killed, too. */
function isRunning({ attempt: { process, exit }, phase }: Session): boolean {
  return process !== null && exit === null && phase.name !== 'ended'
}
