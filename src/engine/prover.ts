import type { Checkpoint } from '../core/checkpoint.ts'
import { isToBeLookedAt } from '../core/judge-work.ts'
import type { Session } from '../core/session.ts'
import type { Signal } from '../core/signals.ts'
import type { Duration } from '../lib/time.ts'
import { Trouble } from '../lib/trouble.ts'
import { type Kept, Unkept } from '../ports/checkpoints.ts'
import type { World } from './world.ts'

/** What went wrong unexpectedly is tried again after this. */
const TRY_AGAIN: Duration = 60_000

interface Look {
  readonly attempt: number
  readonly ending: AbortController
  readonly done: Promise<void>
}

/**
 * Has somebody look at what was done wherever that decides how a session ends. That it is to be looked at stands in the
 * session: killed in the middle of it, the next supervisor looks again.
 */
export class Prover {
  readonly #world: World
  readonly #report: (sessionId: string, signal: Signal) => Promise<void>
  readonly #save: (sessionId: string) => Promise<Kept>
  readonly #looks = new Map<string, Look>()
  #isOver = false

  constructor(
    world: World,
    report: (sessionId: string, signal: Signal) => Promise<void>,
    save: (sessionId: string) => Promise<Kept>,
  ) {
    this.#world = world
    this.#report = report
    this.#save = save
  }

  /** Told of each session as it is now, as often as it changes. */
  follow(session: Session): void {
    const { id } = session.spec
    const isWanted = isToBeLookedAt(session)
    const look = this.#looks.get(id)
    if (look !== undefined && (!isWanted || look.attempt !== session.attempt)) {
      look.ending.abort()
      this.#looks.delete(id)
    }
    if (isWanted && !this.#looks.has(id) && !this.#isOver) this.#begin(session)
  }

  async stop(): Promise<void> {
    this.#isOver = true
    const looks = [...this.#looks.values()]
    for (const { ending } of looks) ending.abort()
    await Promise.all(looks.map(({ done }) => done))
  }

  #begin(session: Session): void {
    const { id } = session.spec
    const ending = new AbortController()
    const done = this.#look(session, ending.signal).catch(cause => {
      if (ending.signal.aborted) return
      this.#world.onTrouble(id, cause)
      this.#later(id)
    })
    this.#looks.set(id, { attempt: session.attempt, ending, done })
  }

  async #look(session: Session, ending: AbortSignal): Promise<void> {
    const { store, witness, clock } = this.#world
    const { spec, attempt } = session
    const now = await this.#saved(session)
    store.assertEpoch()
    const shown = await witness.see(session, now, ending)
    if (ending.aborted) return
    await this.#report(spec.id, { at: clock.now(), type: 'work.shown', attempt, shown })
  }

  /** Where nothing can be saved, whoever looks must do without. */
  async #saved({ spec }: Session): Promise<Checkpoint | null> {
    const isKept = spec.saving.mode !== 'off' && this.#world.checkpoints.isPlace(spec.cwd)
    if (!isKept || spec.verify?.git !== true) return null
    try {
      return (await this.#save(spec.id)).checkpoint
    } catch (cause) {
      if (cause instanceof Unkept || cause instanceof Trouble) return null
      throw cause
    }
  }

  #later(id: string): void {
    const { clock, store } = this.#world
    clock.ring(clock.now() + TRY_AGAIN, () => {
      this.#looks.delete(id)
      const session = store.load(id)
      if (session !== undefined) this.follow(session)
    })
  }
}
