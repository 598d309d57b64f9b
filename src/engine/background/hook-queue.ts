import type { Event } from '../../core/session/events.ts'
import type { HookCall } from '../../core/notify/notice.ts'
import type { Duration } from '../../lib/time.ts'
import { errorMessage } from '../../lib/errors.ts'
import type { HookRunner } from '../../ports/notifications.ts'
import { retryWrite } from '../retry.ts'
import { withTimeout } from '../retry.ts'
import type { EngineContext } from '../context.ts'

/** Milliseconds. A hook may deploy or run tests; a hook that takes longer hangs. */
const HOOK_TIMEOUT: Duration = 600_000
/** Hooks that run at the same time, so that a hundred sessions that end together do not start a hundred programs. */
const MAX_PARALLEL = 4

type HookContext = Pick<EngineContext, 'store' | 'clock' | 'log' | 'onTrouble'> & { readonly hooks: HookRunner }

/**
 * Runs the hooks of ended sessions. The store records each call together with the end of its session; if a supervisor
 * dies during a call, the next one runs it again under the same id.
 */
export class HookQueue {
  readonly #context: HookContext
  readonly #running = new Map<string, Promise<void>>()
  readonly #abort = new AbortController()

  constructor(context: HookContext) {
    this.#context = context
  }

  /** Starts pending hooks, if any. */
  wake(): void {
    try {
      const room = Math.max(0, MAX_PARALLEL - this.#running.size)
      for (const call of this.#waiting().slice(0, room)) this.#start(call)
    } catch (cause) {
      this.#context.onTrouble('', cause)
    }
  }

  /** Starts the pending hooks of this session before the engine removes its files. */
  runNow(sessionId: string): void {
    for (const call of this.#waiting()) if (call.session.spec.id === sessionId) this.#start(call)
  }

  /** Kills running hooks; they stay pending. */
  async stop(): Promise<void> {
    this.#abort.abort()
    await Promise.all(this.#running.values())
  }

  #waiting(): HookCall[] {
    if (this.#abort.signal.aborted) return []
    return this.#context.store.notifications.pendingHooks().filter(({ id }) => !this.#running.has(id))
  }

  #start(call: HookCall): void {
    this.#context.store.assertEpoch()
    const done = this.#run(call).finally(() => {
      this.#running.delete(call.id)
      this.wake()
    })
    this.#running.set(call.id, done)
  }

  async #run(call: HookCall): Promise<void> {
    const { clock, hooks, store } = this.#context
    const run = (signal: AbortSignal): ReturnType<HookRunner['run']> => hooks.run(call, signal)
    const options = { clock, limit: HOOK_TIMEOUT, doing: 'running it', ending: this.#abort.signal }
    const { ok, reason } = await withTimeout(run, options).catch(cause => ({ ok: false, reason: errorMessage(cause) }))
    if (this.#abort.signal.aborted) return
    if (!ok) this.#context.log(`the on-exit command of ${call.session.spec.name} failed: ${reason}`)
    const end: Event = { at: clock.now(), type: 'hook.ended', hook: 'on-exit', id: call.id, ok, reason }
    // Repeats the write until it succeeds, so that a full disk does not cause a second run.
    await retryWrite(() => store.notifications.settleHook(call, end), { ...this.#context, ending: this.#abort.signal })
  }
}
