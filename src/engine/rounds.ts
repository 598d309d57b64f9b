import { isSetBack } from '../core/is-set-back.ts'
import { dueOf, type Session } from '../core/session.ts'
import type { Signal } from '../core/signals.ts'
import { attemptRef } from './attempt-ref.ts'
import { showOf } from './perform.ts'
import type { World } from './world.ts'

/** What the rounds need of whoever carries out what they find. */
export interface Crew {
  /** Woken after another supervisor took over, we must do nothing more. */
  isInCharge(): boolean
  /** Does this in the session's turn. */
  enter(sessionId: string, deed: () => Promise<void>): Promise<void>
  dispatch(sessionId: string, signal: Signal): Promise<void>
}

/** Goes round for what nobody rings for: lost panes and recorders, alarms of a clock that was set back. */
export class Rounds {
  readonly #world: World
  readonly #crew: Crew
  #mending: Promise<void> | undefined

  constructor(world: World, crew: Crew) {
    this.#world = world
    this.#crew = crew
  }

  /** Notes how far the logs have grown; answers the sessions whose evidence is worth a look. */
  inspect(): Session[] {
    const { store, work } = this.#world
    const live = store.live()
    for (const session of live)
      void this.#crew.enter(session.spec.id, async () => work.measure(attemptRef(session), this.#shown(session)))
    return live.filter(session => !this.#isSurelyAtWork(session))
  }

  /** An alarm that the clock was set back from would ring hours late. */
  wakeSetBack(): void {
    const { store, clock, rules } = this.#world
    const at = clock.now()
    for (const session of store.live())
      if (isSetBack(session, at, rules)) void this.#crew.dispatch(session.spec.id, { at, type: 'clock.due' })
  }

  /** Endings that their supervisors did not live to finish: they are not begun again as if they had just been decided. */
  overdueEndings(): Session[] {
    const { store, clock, rules } = this.#world
    const at = clock.now()
    const endings = store.live().filter(({ phase }) => phase.name === 'stopping')
    return endings.filter(session => (dueOf(session) ?? at) <= at || isSetBack(session, at, rules))
  }

  /** Gives live sessions back what they have lost but their lives: panes, recorders. One at a time serves all who ask. */
  mend(): Promise<void> {
    this.#mending ??= this.#mendAll().finally(() => {
      this.#mending = undefined
    })
    return this.#mending
  }

  async #mendAll(): Promise<void> {
    if (!this.#crew.isInCharge()) return
    const { store, work } = this.#world
    const live = store.live().filter(isAtWork)
    const refs = live.map(session => ({ ...attemptRef(session), show: this.#shown(session) }))
    // In the session's turn: one that ends meanwhile would be given a pane that nobody closes.
    await work.mend(refs, (id, deed) =>
      this.#crew.enter(id, async () => {
        const session = store.load(id)
        if (session !== undefined && isAtWork(session)) await deed()
      }),
    )
  }

  /** Its process lives and its words are nothing to us: a look would find no more. */
  #isSurelyAtWork({ spec, phase, life, exit }: Session): boolean {
    const { work, agents } = this.#world
    if (phase.name !== 'running' || life === null || exit !== null) return false
    return agents(spec.agent).read === undefined && work.isAlive(life)
  }

  #shown({ spec }: Session): ReturnType<typeof showOf> {
    return showOf(this.#world.agents(spec.agent))
  }
}

function isAtWork({ life, exit }: Session): boolean {
  return life !== null && exit === null
}
