import type { Session } from '../../core/session/session.ts'
import type { Signal } from '../../core/session/signals.ts'
import type { Duration } from '../../lib/time.ts'
import { stripCredentials } from '../../lib/mask/mask.ts'
import { rootReason, Trouble } from '../../lib/errors.ts'
import { checkpointTargetOf } from '../../ports/checkpoints.ts'
import { withTimeout } from '../retry.ts'
import type { EngineContext } from '../context.ts'

/** Milliseconds. A connection may be slow and a first push large. */
const PUSH_TIMEOUT: Duration = 600_000
/** Milliseconds between two pushes, except for the first push and after the end of the session. */
const PUSH_INTERVAL: Duration = 30_000
/** Milliseconds after the first failure; each further failure doubles the pause, up to `MAX_PAUSE`. */
const FIRST_PAUSE: Duration = 10_000
const MAX_PAUSE: Duration = 600_000
/** Failures from which the pause is `MAX_PAUSE`. */
const MAX_FAILURES = 8

interface ScheduledPush {
  readonly cancel: () => void
  readonly isImmediate: boolean
}

/** Pushes checkpoints to the session's remote, and retries until they are there. Nothing ever waits for a push. */
export class Pusher {
  readonly #context: EngineContext
  readonly #report: (sessionId: string, signal: Signal) => Promise<void>
  readonly #scheduled = new Map<string, ScheduledPush>()
  readonly #running = new Map<string, Promise<void>>()
  readonly #failures = new Map<string, number>()
  readonly #abort = new AbortController()

  constructor(context: EngineContext, report: (sessionId: string, signal: Signal) => Promise<void>) {
    this.#context = context
    this.#report = report
  }

  /** The engine calls this with the current session after each change. */
  onSessionChanged(session: Session): void {
    const { id } = session.spec
    if (!isBehind(session) || this.#running.has(id) || this.#abort.signal.aborted) return
    const isFirst = session.saved.pushed === null
    const isImmediate = (isFirst || session.phase.name === 'ended') && !this.#failures.has(id)
    const known = this.#scheduled.get(id)
    if (known !== undefined && (known.isImmediate || !isImmediate)) return
    known?.cancel()
    const { clock } = this.#context
    const cancel = clock.schedule(clock.now() + (isImmediate ? 0 : this.#pauseFor(id)), () => {
      this.#scheduled.delete(id)
      this.#start(id)
    })
    this.#scheduled.set(id, { cancel, isImmediate })
  }

  async stop(): Promise<void> {
    this.#abort.abort()
    for (const { cancel } of this.#scheduled.values()) cancel()
    await Promise.all(this.#running.values())
  }

  #pauseFor(id: string): Duration {
    const failures = this.#failures.get(id) ?? 0
    return failures === 0 ? PUSH_INTERVAL : Math.min(MAX_PAUSE, FIRST_PAUSE * 2 ** (failures - 1))
  }

  #start(id: string): void {
    const pushed = this.#push(id)
      .catch(cause => this.#context.onTrouble(id, cause))
      .finally(() => {
        this.#running.delete(id)
        const session = this.#context.store.load(id)
        if (session !== undefined) this.onSessionChanged(session)
      })
    this.#running.set(id, pushed)
  }

  async #push(id: string): Promise<void> {
    const { checkpoints, clock, store, runtime } = this.#context
    const session = store.load(id)
    const remote = session?.spec.saving.push ?? null
    const number = session?.saved.last?.number
    if (session === undefined || remote === null || number === undefined) return
    store.assertEpoch()
    const push = (signal: AbortSignal): Promise<string | null> =>
      checkpoints.push(checkpointTargetOf(session.spec), remote, runtime.readEnvironment(id), signal)
    const options = {
      clock,
      limit: PUSH_TIMEOUT,
      doing: `pushing to ${stripCredentials(remote)}`,
      ending: this.#abort.signal,
    }
    try {
      const note = await withTimeout(push, options)
      this.#failures.delete(id)
      await this.#report(id, {
        at: clock.now(),
        type: 'checkpoint.pushed',
        number,
        ...(note !== null && { note }),
      })
    } catch (cause) {
      if (this.#abort.signal.aborted) return
      // Retries rarely after a failure that will not pass soon, such as a session that another machine continues.
      const isHopeless = cause instanceof Trouble && !cause.mayHelpToRetry
      this.#failures.set(id, isHopeless ? MAX_FAILURES : (this.#failures.get(id) ?? 0) + 1)
      await this.#report(id, { at: clock.now(), type: 'checkpoint.unpushed', reason: rootReason(cause) })
    }
  }
}

function isBehind({ spec, saved }: Session): boolean {
  return spec.saving.push !== null && saved.last !== null && saved.last.number > (saved.pushed?.number ?? 0)
}
