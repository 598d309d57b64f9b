import { isClockRolledBack } from '../core/policy/restart-schedule.ts'
import { sessionDueAt, type Session } from '../core/session/session.ts'
import type { Signal } from '../core/session/signals.ts'
import { attemptRef } from '../ports/runtime.ts'
import { shownOutput } from './perform.ts'
import type { EngineContext } from './context.ts'

/** What the rounds need of whoever carries out what they find. */
export interface ReconcilerContext {
  /** Woken after another supervisor took over, we must do nothing more. */
  holdsEpoch(): boolean
  /** Does this in the session's turn. */
  runExclusively(sessionId: string, action: () => Promise<void>): Promise<void>
  dispatch(sessionId: string, signal: Signal): Promise<void>
}

/** Goes round for what nobody rings for: lost panes and recorders, alarms of a clock that was set back. */
export class Reconciler {
  readonly #context: EngineContext
  readonly #actions: ReconcilerContext
  #currentRepair: Promise<void> | undefined

  constructor(context: EngineContext, actions: ReconcilerContext) {
    this.#context = context
    this.#actions = actions
  }

  /** Notes how far the logs have grown; answers the sessions whose evidence is worth a look. */
  sessionsToObserve(): Session[] {
    const { store, runtime } = this.#context
    const live = store.live()
    for (const session of live)
      void this.#actions.runExclusively(session.spec.id, async () =>
        runtime.recordLogSize(attemptRef(session), this.#shownOutput(session)),
      )
    return live.filter(session => !this.#isKnownToRun(session))
  }

  /** An alarm that the clock was set back from would ring hours late. */
  wakeAfterClockRollback(): void {
    const { store, clock, timings } = this.#context
    const at = clock.now()
    for (const session of store.live())
      if (isClockRolledBack(session, at, timings))
        void this.#actions.dispatch(session.spec.id, { at, type: 'clock.due' })
  }

  /** Endings that their supervisors did not live to finish: they are not begun again as if they had just been decided. */
  overdueStops(): Session[] {
    const { store, clock, timings } = this.#context
    const at = clock.now()
    const endings = store.live().filter(({ phase }) => phase.name === 'stopping')
    return endings.filter(session => (sessionDueAt(session) ?? at) <= at || isClockRolledBack(session, at, timings))
  }

  /** Gives live sessions back what they have lost but their lives: panes, recorders. One at a time serves all who ask. */
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
    // In the session's turn: one that ends meanwhile would be given a pane that nobody closes.
    await runtime.repair(refs, (id, action) =>
      this.#actions.runExclusively(id, async () => {
        const session = store.load(id)
        if (session !== undefined && isRunning(session)) await action()
      }),
    )
  }

  /** Its process lives and its words are nothing to us: a look would find no more. */
  #isKnownToRun({ spec, phase, life, exit }: Session): boolean {
    const { runtime, agents } = this.#context
    if (phase.name !== 'running' || life === null || exit !== null) return false
    return agents(spec.agent).readLine === undefined && runtime.isProcessAlive(life)
  }

  #shownOutput({ spec }: Session): ReturnType<typeof shownOutput> {
    return shownOutput(this.#context.agents(spec.agent))
  }
}

function isRunning({ life, exit }: Session): boolean {
  return life !== null && exit === null
}
