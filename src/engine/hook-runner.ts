import type { Event } from '../core/events.ts'
import type { HookCall } from '../core/hooks.ts'
import type { Duration } from '../lib/time.ts'
import { wordsOf } from '../lib/trouble.ts'
import type { Hooks } from '../ports/notifier.ts'
import { insist } from './insist.ts'
import { withLimit } from './with-limit.ts'
import type { World } from './world.ts'

/** A hook may deploy something or run tests; one that takes longer hangs. */
const PATIENCE: Duration = 600_000
/** A hundred sessions that end in one moment do not start a hundred programs. */
const AT_ONCE = 4

type Place = Pick<World, 'store' | 'clock' | 'say' | 'onTrouble'> & { readonly hooks: Hooks }

/**
 * Runs what is to be run when sessions have ended. Each call is recorded with the end it belongs to; killed in the middle
 * of one, the next supervisor runs it again under the same id.
 */
export class HookRunner {
  readonly #place: Place
  readonly #running = new Map<string, Promise<void>>()
  readonly #ending = new AbortController()

  constructor(place: Place) {
    this.#place = place
  }

  /** Something may be to be run. */
  wake(): void {
    try {
      const room = Math.max(0, AT_ONCE - this.#running.size)
      for (const call of this.#waiting().slice(0, room)) this.#begin(call)
    } catch (cause) {
      this.#place.onTrouble('', cause)
    }
  }

  /** Begins what this session still wants run, because its files are about to be removed. */
  attend(sessionId: string): void {
    for (const call of this.#waiting()) if (call.session.spec.id === sessionId) this.#begin(call)
  }

  /** Kills what runs: it stays pending. */
  async stop(): Promise<void> {
    this.#ending.abort()
    await Promise.all(this.#running.values())
  }

  #waiting(): HookCall[] {
    if (this.#ending.signal.aborted) return []
    return this.#place.store.notices.hooks().filter(({ id }) => !this.#running.has(id))
  }

  #begin(call: HookCall): void {
    this.#place.store.assertEpoch()
    const ran = this.#run(call).finally(() => {
      this.#running.delete(call.id)
      this.wake()
    })
    this.#running.set(call.id, ran)
  }

  async #run(call: HookCall): Promise<void> {
    const { clock, hooks, store } = this.#place
    const run = (signal: AbortSignal): ReturnType<Hooks['run']> => hooks.run(call, signal)
    const given = { clock, limit: PATIENCE, doing: 'running it', ending: this.#ending.signal }
    const { ok, reason } = await withLimit(run, given).catch(cause => ({ ok: false, reason: wordsOf(cause) }))
    if (this.#ending.signal.aborted) return
    if (!ok) this.#place.say(`the on-exit command of ${call.session.spec.name} failed: ${reason}`)
    const end: Event = { at: clock.now(), type: 'hook.ended', hook: 'on-exit', id: call.id, ok, reason }
    // What was run is not run again because a full disk keeps us from noting it.
    await insist(() => store.notices.settleHook(call, end), { ...this.#place, ending: this.#ending.signal })
  }
}
