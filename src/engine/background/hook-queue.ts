import type { Event } from '../../core/session/events.ts'
import type { HookCall } from '../../core/notify/notice.ts'
import type { SessionId } from '../../core/session/session-id-and-name.ts'
import { errorMessage } from '../../lib/errors.ts'
import type { Job } from '../../lib/keyed-jobs.ts'
import { fixedPause } from '../../lib/retry-policy.ts'
import type { Duration } from '../../lib/time.ts'
import { withTimeout } from '../../lib/timeout.ts'
import type { HookRunner, NotificationStore } from '../../ports/notifications.ts'
import type { EngineContext } from '../context.ts'
import { retryWrite } from '../retry-write.ts'
import { Reconciler } from './reconciler.ts'

/** Milliseconds. A hook may deploy or run tests; a hook that takes longer hangs. */
const HOOK_TIMEOUT: Duration = 600_000
/** Hooks that run at the same time, so that a hundred sessions that end together do not start a hundred programs. */
const MAX_PARALLEL = 4
/** Milliseconds; a hook that fails is not retried, only a bug leads here. */
const RETRY = fixedPause(60_000)

type HookContext = Pick<EngineContext, 'store' | 'clock' | 'timings' | 'log' | 'onTrouble'> & {
  readonly hooks: HookRunner
}

/**
 * Runs the hooks of ended sessions. The store records each call together with the end of its session; if a supervisor
 * dies during a call, the next one runs it again under the same id.
 */
export class HookQueue {
  readonly #context: HookContext
  readonly #reconciler: Reconciler<NotificationStore, string>
  /** Sessions whose hooks do not wait for others. */
  readonly #urgent = new Set<string>()

  constructor(context: HookContext) {
    this.#context = context
    this.#reconciler = new Reconciler(context, {
      find: () => context.store.notifications,
      wanted: store => this.#wanted(store),
    })
  }

  /** Starts pending hooks, if any. */
  wake(): void {
    this.#reconciler.update('')
  }

  /** Starts the pending hooks of this session before the engine removes its files. */
  runNow(sessionId: SessionId): void {
    this.#urgent.add(sessionId)
    this.wake()
  }

  /** Kills running hooks; they stay pending. */
  stop(): Promise<void> {
    return this.#reconciler.stop()
  }

  #wanted(store: NotificationStore): Job[] {
    const calls = store.pendingHooks()
    const isNext = ({ session }: HookCall, index: number): boolean =>
      index < MAX_PARALLEL || this.#urgent.has(session.spec.id)
    return calls.filter(isNext).map(call => ({ key: call.id, retry: RETRY, run: signal => this.#run(call, signal) }))
  }

  async #run(call: HookCall, signal: AbortSignal): Promise<void> {
    const { clock, hooks, store, log } = this.#context
    const options = { clock, limit: HOOK_TIMEOUT, doing: 'running it', signal }
    const { ok, reason } = await withTimeout(end => hooks.run(call, end), options).catch(cause => ({
      ok: false,
      reason: errorMessage(cause),
    }))
    if (signal.aborted) return
    if (!ok) log(`the on-exit command of ${call.session.spec.name} failed: ${reason}`)
    const end: Event = { at: clock.now(), type: 'hook.ended', hook: 'on-exit', id: call.id, ok, reason }
    // A full disk must not cause a second run.
    await retryWrite(() => store.notifications.settleHook(call, end), { ...this.#context, signal })
  }
}
