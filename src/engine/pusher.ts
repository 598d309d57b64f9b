import type { Session } from '../core/session.ts'
import type { Signal } from '../core/signals.ts'
import type { Duration } from '../lib/time.ts'
import { withoutLogin } from '../lib/without-login.ts'
import { reasonIn, Trouble } from '../lib/trouble.ts'
import { keepingOf } from '../ports/keeping-of.ts'
import { withLimit } from './with-limit.ts'
import type { World } from './world.ts'

/** A line may be slow and a first push large. */
const PATIENCE: Duration = 600_000
/** At most one push in so long, unless it is the first or the session has ended. */
const PAUSE: Duration = 30_000
/** First pause after a failure; it doubles up to the longest. */
const FIRST_PAUSE: Duration = 10_000
const LONGEST_PAUSE: Duration = 600_000
/** From so many on the pause is the longest. */
const MOST_FAILURES = 8

interface Errand {
  readonly cancel: () => void
  readonly isHasty: boolean
}

/** Brings checkpoints to the remote their session names, again and again until they are there. Nothing ever waits for it. */
export class Pusher {
  readonly #world: World
  readonly #report: (sessionId: string, signal: Signal) => Promise<void>
  readonly #waiting = new Map<string, Errand>()
  readonly #running = new Map<string, Promise<void>>()
  readonly #failures = new Map<string, number>()
  readonly #ending = new AbortController()

  constructor(world: World, report: (sessionId: string, signal: Signal) => Promise<void>) {
    this.#world = world
    this.#report = report
  }

  /** Told of each session as it is now, as often as it changes. */
  follow(session: Session): void {
    const { id } = session.spec
    if (!isBehind(session) || this.#running.has(id) || this.#ending.signal.aborted) return
    const isFirst = session.saved.pushed === null
    const isHasty = (isFirst || session.phase.name === 'ended') && !this.#failures.has(id)
    const known = this.#waiting.get(id)
    if (known !== undefined && (known.isHasty || !isHasty)) return
    known?.cancel()
    const { clock } = this.#world
    const cancel = clock.ring(clock.now() + (isHasty ? 0 : this.#pauseFor(id)), () => {
      this.#waiting.delete(id)
      this.#begin(id)
    })
    this.#waiting.set(id, { cancel, isHasty })
  }

  async stop(): Promise<void> {
    this.#ending.abort()
    for (const { cancel } of this.#waiting.values()) cancel()
    await Promise.all(this.#running.values())
  }

  #pauseFor(id: string): Duration {
    const failures = this.#failures.get(id) ?? 0
    return failures === 0 ? PAUSE : Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (failures - 1))
  }

  #begin(id: string): void {
    const pushed = this.#push(id)
      .catch(cause => this.#world.onTrouble(id, cause))
      .finally(() => {
        this.#running.delete(id)
        const session = this.#world.store.load(id)
        if (session !== undefined) this.follow(session)
      })
    this.#running.set(id, pushed)
  }

  async #push(id: string): Promise<void> {
    const { checkpoints, clock, store, work } = this.#world
    const session = store.load(id)
    const remote = session?.spec.saving.push ?? null
    const number = session?.saved.last?.number
    if (session === undefined || remote === null || number === undefined) return
    store.assertEpoch()
    const push = (signal: AbortSignal): Promise<string | null> =>
      checkpoints.push(keepingOf(session.spec), remote, work.environment(id), signal)
    const given = { clock, limit: PATIENCE, doing: `pushing to ${withoutLogin(remote)}`, ending: this.#ending.signal }
    try {
      const note = await withLimit(push, given)
      this.#failures.delete(id)
      await this.#report(id, {
        at: clock.now(),
        type: 'checkpoint.pushed',
        number,
        ...(note !== null && { note }),
      })
    } catch (cause) {
      if (this.#ending.signal.aborted) return
      // What will not be otherwise soon, as a session that another machine continues, is looked at now and then.
      const isHopeless = cause instanceof Trouble && !cause.mayHelpToRetry
      this.#failures.set(id, isHopeless ? MOST_FAILURES : (this.#failures.get(id) ?? 0) + 1)
      await this.#report(id, { at: clock.now(), type: 'checkpoint.unpushed', reason: reasonIn(cause) })
    }
  }
}

function isBehind({ spec, saved }: Session): boolean {
  return spec.saving.push !== null && saved.last !== null && saved.last.number > (saved.pushed?.number ?? 0)
}
