import type { Event } from '../../core/session/events.ts'
import type { HookCall } from '../../core/notify/notice.ts'
import type { Duration } from '../../lib/time.ts'
import { errorMessage } from '../../lib/errors.ts'
import type { HookRunner } from '../../ports/notifications.ts'
import { retryWrite } from '../retry.ts'
import { withTimeout } from '../retry.ts'
import type { EngineContext } from '../context.ts'

/** A hook may deploy something or run tests; one that takes longer hangs. */
const HOOK_TIMEOUT: Duration = 600_000
/** A hundred sessions that end in one moment do not start a hundred programs. */
const MAX_PARALLEL = 4

type HookContext = Pick<EngineContext, 'store' | 'clock' | 'log' | 'onTrouble'> & { readonly hooks: HookRunner }

/**
 * Runs what is to be run when sessions have ended. Each call is recorded with the end it belongs to; killed in the middle
 * of one, the next supervisor runs it again under the same id.
 */
export class HookQueue {
  readonly #context: HookContext
  readonly #running = new Map<string, Promise<void>>()
  readonly #abort = new AbortController()

  constructor(place: HookContext) {
    this.#context = place
  }

  /** Something may be to be run. */
  wake(): void {
    try {
      const room = Math.max(0, MAX_PARALLEL - this.#running.size)
      for (const call of this.#waiting().slice(0, room)) this.#start(call)
    } catch (cause) {
      this.#context.onTrouble('', cause)
    }
  }

  /** Begins what this session still wants run, because its files are about to be removed. */
  runNow(sessionId: string): void {
    for (const call of this.#waiting()) if (call.session.spec.id === sessionId) this.#start(call)
  }

  /** Kills what runs: it stays pending. */
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
    const ran = this.#run(call).finally(() => {
      this.#running.delete(call.id)
      this.wake()
    })
    this.#running.set(call.id, ran)
  }

  async #run(call: HookCall): Promise<void> {
    const { clock, hooks, store } = this.#context
    const run = (signal: AbortSignal): ReturnType<HookRunner['run']> => hooks.run(call, signal)
    const options = { clock, limit: HOOK_TIMEOUT, doing: 'running it', ending: this.#abort.signal }
    const { ok, reason } = await withTimeout(run, options).catch(cause => ({ ok: false, reason: errorMessage(cause) }))
    if (this.#abort.signal.aborted) return
    if (!ok) this.#context.log(`the on-exit command of ${call.session.spec.name} failed: ${reason}`)
    const end: Event = { at: clock.now(), type: 'hook.ended', hook: 'on-exit', id: call.id, ok, reason }
    // What was run is not run again because a full disk keeps us from noting it.
    await retryWrite(() => store.notifications.settleHook(call, end), { ...this.#context, ending: this.#abort.signal })
  }
}
