import type { SessionId } from '../../core/session/session-id-and-name.ts'
import type { Session } from '../../core/session/session-state.ts'
import type { Signal } from '../../core/session/signals.ts'
import { rootReason } from '../../lib/errors.ts'
import type { Job, JobFailure } from '../../lib/keyed-jobs.ts'
import { stripCredentials } from '../../lib/mask/strip-url-credentials.ts'
import type { RetryPolicy } from '../../lib/retry-policy.ts'
import type { Duration } from '../../lib/time.ts'
import { checkpointTargetOf } from '../../ports/checkpoints.ts'
import type { EngineContext } from '../context.ts'
import { SessionReconciler } from './reconciler.ts'

/** Milliseconds. A connection may be slow and a first push large. */
const PUSH_TIMEOUT: Duration = 600_000
/** Milliseconds between two pushes, except for the first push and after the end of the session. */
const PUSH_INTERVAL: Duration = 30_000
const RETRY: RetryPolicy = { firstPause: 10_000, maxPause: 600_000 }

/** Pushes checkpoints to the session's remote, and retries until they are there. Nothing ever waits for a push. */
export class Pusher extends SessionReconciler {
  readonly #context: EngineContext
  readonly #report: (sessionId: SessionId, signal: Signal) => Promise<void>

  constructor(context: EngineContext, report: (sessionId: SessionId, signal: Signal) => Promise<void>) {
    super(context, session => this.#wanted(session))
    this.#context = context
    this.#report = report
  }

  #wanted(session: Session): Job[] {
    const { spec, saved, phase } = session
    const { push: remote } = spec.supervision.saving
    if (remote === null || saved.last === null || saved.last.number <= (saved.pushed?.number ?? 0)) return []
    const isImmediate = saved.pushed === null || phase.name === 'ended'
    return [
      {
        key: 'push',
        revision: saved.last.number,
        dueAt: this.#context.clock.now() + (isImmediate ? 0 : PUSH_INTERVAL),
        limit: PUSH_TIMEOUT,
        doing: `pushing to ${stripCredentials(remote)}`,
        retry: RETRY,
        run: signal => this.#push(spec.id, remote, signal),
        onFailure: failure => this.#reportFailure(spec.id, failure),
      },
    ]
  }

  /** Pushes the newest checkpoint of this moment, which may be newer than the one that the job was wanted for. */
  async #push(id: SessionId, remote: string, signal: AbortSignal): Promise<void> {
    const { checkpoints, clock, store, runtime } = this.#context
    const session = store.load(id)
    const number = session?.saved.last?.number
    if (session === undefined || number === undefined) return
    const note = await checkpoints.push(checkpointTargetOf(session.spec), remote, runtime.readEnvironment(id), signal)
    if (signal.aborted) return
    await this.#report(id, { at: clock.now(), type: 'checkpoint.pushed', number, ...(note !== null && { note }) })
  }

  async #reportFailure(id: SessionId, { cause }: JobFailure): Promise<void> {
    await this.#report(id, { at: this.#context.clock.now(), type: 'checkpoint.unpushed', reason: rootReason(cause) })
  }
}
