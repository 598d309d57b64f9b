import type { Checkpoint } from '../../core/checkpoint/checkpoint.ts'
import type { SessionId } from '../../core/session/session-id-and-name.ts'
import type { Session } from '../../core/session/session-state.ts'
import type { Signal } from '../../core/session/signals.ts'
import { Trouble } from '../../lib/errors.ts'
import type { Job } from '../../lib/keyed-jobs.ts'
import { fixedPause } from '../../lib/retry-policy.ts'
import { type SaveResult, NotSaved } from '../../ports/checkpoints.ts'
import type { EngineContext } from '../context.ts'
import { SessionReconciler } from './reconciler.ts'

/** Milliseconds; only an unexpected failure of the inspector leads to a retry. */
const RETRY = fixedPause(60_000)

/**
 * Inspects the work whenever the result decides how a session ends. The session records the pending inspection: if a
 * supervisor dies during one, the next supervisor inspects again.
 */
export class Verifier extends SessionReconciler {
  readonly #context: EngineContext
  readonly #report: (sessionId: SessionId, signal: Signal) => Promise<void>
  readonly #save: (sessionId: SessionId) => Promise<SaveResult>

  constructor(
    context: EngineContext,
    report: (sessionId: SessionId, signal: Signal) => Promise<void>,
    save: (sessionId: SessionId) => Promise<SaveResult>,
  ) {
    super(context, session => this.#wanted(session))
    this.#context = context
    this.#report = report
    this.#save = save
  }

  #wanted(session: Session): Job[] {
    if (session.phase.name !== 'verifying') return []
    return [{ key: `attempt ${session.attempt.number}`, retry: RETRY, run: signal => this.#inspect(session, signal) }]
  }

  async #inspect(session: Session, abortSignal: AbortSignal): Promise<void> {
    const { store, workInspector, clock } = this.#context
    const { spec } = session
    const { number: attempt } = session.attempt
    const now = await this.#saveCurrent(session)
    store.assertEpoch()
    const shown = await workInspector.inspect(session, now, abortSignal)
    if (abortSignal.aborted) return
    await this.#report(spec.id, { at: clock.now(), type: 'work.shown', attempt, shown })
  }

  /**
   * Returns a checkpoint of the current state, or null when the checkpointer cannot save one; then the inspection works
   * without one.
   */
  async #saveCurrent({ spec }: Session): Promise<Checkpoint | null> {
    const isKept = spec.supervision.saving.mode !== 'off' && this.#context.checkpoints.isRepository(spec.cwd)
    if (!isKept || spec.supervision.verify?.git !== true) return null
    try {
      return (await this.#save(spec.id)).checkpoint
    } catch (cause) {
      if (cause instanceof NotSaved || cause instanceof Trouble) return null
      throw cause
    }
  }
}
