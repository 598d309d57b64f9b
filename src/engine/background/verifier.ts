import type { Checkpoint } from '../../core/checkpoint/checkpoint.ts'
import { needsVerification } from '../../core/session/reactions/finish.ts'
import type { Session } from '../../core/session/session.ts'
import type { Signal } from '../../core/session/signals.ts'
import type { Duration } from '../../lib/time.ts'
import { Trouble } from '../../lib/errors.ts'
import { type SaveResult, NotSaved } from '../../ports/checkpoints.ts'
import type { EngineContext } from '../context.ts'

/** Milliseconds before the next try after an unexpected failure. */
const RETRY_DELAY: Duration = 60_000

interface Inspection {
  readonly attempt: number
  readonly ending: AbortController
  readonly done: Promise<void>
}

/**
 * Inspects the work whenever the result decides how a session ends. The session records the pending inspection: if a
 * supervisor dies during one, the next supervisor inspects again.
 */
export class Verifier {
  readonly #context: EngineContext
  readonly #report: (sessionId: string, signal: Signal) => Promise<void>
  readonly #save: (sessionId: string) => Promise<SaveResult>
  readonly #inspections = new Map<string, Inspection>()
  #isStopped = false

  constructor(
    context: EngineContext,
    report: (sessionId: string, signal: Signal) => Promise<void>,
    save: (sessionId: string) => Promise<SaveResult>,
  ) {
    this.#context = context
    this.#report = report
    this.#save = save
  }

  /** The engine calls this with the current session after each change. */
  onSessionChanged(session: Session): void {
    const { id } = session.spec
    const isWanted = needsVerification(session)
    const inspection = this.#inspections.get(id)
    if (inspection !== undefined && (!isWanted || inspection.attempt !== session.attempt)) {
      inspection.ending.abort()
      this.#inspections.delete(id)
    }
    if (isWanted && !this.#inspections.has(id) && !this.#isStopped) this.#start(session)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    const inspections = [...this.#inspections.values()]
    for (const { ending: abortController } of inspections) abortController.abort()
    await Promise.all(inspections.map(({ done }) => done))
  }

  #start(session: Session): void {
    const { id } = session.spec
    const abortController = new AbortController()
    const done = this.#inspect(session, abortController.signal).catch(cause => {
      if (abortController.signal.aborted) return
      this.#context.onTrouble(id, cause)
      this.#retryLater(id)
    })
    this.#inspections.set(id, { attempt: session.attempt, ending: abortController, done })
  }

  async #inspect(session: Session, abortSignal: AbortSignal): Promise<void> {
    const { store, workInspector, clock } = this.#context
    const { spec, attempt } = session
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
    const isKept = spec.saving.mode !== 'off' && this.#context.checkpoints.isRepository(spec.cwd)
    if (!isKept || spec.verify?.git !== true) return null
    try {
      return (await this.#save(spec.id)).checkpoint
    } catch (cause) {
      if (cause instanceof NotSaved || cause instanceof Trouble) return null
      throw cause
    }
  }

  #retryLater(id: string): void {
    const { clock, store } = this.#context
    clock.schedule(clock.now() + RETRY_DELAY, () => {
      this.#inspections.delete(id)
      const session = store.load(id)
      if (session !== undefined) this.onSessionChanged(session)
    })
  }
}
