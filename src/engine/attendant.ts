import type { Session } from '../core/session.ts'
import type { Signal } from '../core/signals.ts'
import type { Step } from '../core/step.ts'
import type { Duration, Instant } from '../lib/time.ts'
import { invariant, Trouble } from '../lib/trouble.ts'
import type { Agent } from '../ports/agent.ts'
import { attemptRef } from './attempt-ref.ts'
import { observe } from './observe.ts'
import { perform, type Scene } from './perform.ts'
import type { Recorder } from './recorder.ts'
import { lastLook } from './thread.ts'
import { UnfinishedLines } from './unfinished-lines.ts'
import type { World } from './world.ts'

/** How soon an attempt is looked at again for whose life or end nobody may ring, in milliseconds. */
const LOOK_LATER = 1_000

/** What attending to a session needs of the engine it is part of. */
interface Crew {
  readonly isDown: () => boolean
  readonly look: (sessionId: string) => void
  readonly saveBefore: (session: Session) => Promise<Signal[]>
  readonly situation: (session: Session) => Promise<string>
}

/** Attends to one session at a time, in its turn: takes in what is new about it, and does what was decided. */
export class Attendant {
  readonly #world: World
  readonly #recorder: Recorder
  readonly #engine: Crew
  /** Sessions that will be looked at soon: their agent outlives its shim, or their shim is not there yet. */
  readonly #looks = new Set<string>()
  /** Attempts whose panes were opened, and since when they are waited for. */
  readonly #awaited = new Map<string, { readonly attempt: number; readonly since: Duration }>()

  readonly #unfinished = new UnfinishedLines()

  constructor(world: World, recorder: Recorder, engine: Crew) {
    this.#world = world
    this.#recorder = recorder
    this.#engine = engine
  }

  /** Takes in what is new from the work plane; true when there was something, so that there may be more. */
  takeIn(id: string, isSwept = false): boolean {
    const { store, work } = this.#world
    const session = store.load(id)
    const { name } = session?.phase ?? { name: 'ended' }
    if (session === undefined || name === 'ended' || name === 'resting') {
      this.#takeLetters(id, session?.attempt)
      return false
    }
    const agent = this.#agentOf(session)
    if (agent.read !== undefined && session.exit === null) work.watch(attemptRef(session), true)
    const observed = observe(session, this.worldOf(session), {
      isSwept,
      awaited: this.#awaitedFor(session),
      unfinished: this.#unfinished,
    })
    const death = observed.signals.find(signal => signal.type === 'process.died' && signal.isAlone)
    const leadsTo = (decided: Step): Signal[] => (death === undefined ? [] : this.#goneByItself(decided, death.at))
    const isNews = this.#recorder.decide(id, observed.signals, observed, leadsTo)
    if (observed.signals.length > 0) this.#takeLetters(id, session.attempt)
    if (!observed.isAwaited) this.#awaited.delete(id)
    if (observed.isAdopted || observed.isAwaited) this.#lookLater(id)
    return isNews
  }

  /**
   * An attempt that left nothing behind and that nobody is to sweep is gone. A record that cannot be read just now is looked
   * up after a sweep, as ever: the alarm asks for one.
   */
  #goneByItself({ session, effects }: Step, at: Instant): Signal[] {
    if (session.phase.name !== 'stopping' || effects.some(effect => effect.type === 'sweep')) return []
    const { attempt } = session
    try {
      return [...lastLook(session, this.worldOf(session), at), { at, type: 'tree.gone', attempt, isUnswept: true }]
    } catch (cause) {
      if (cause instanceof Trouble) return []
      throw cause
    }
  }

  /** How long its pane has been waited for. Begins anew with each supervisor. */
  #awaitedFor({ spec, attempt }: Session): Duration {
    const now = this.#world.clock.awake()
    const known = this.#awaited.get(spec.id)
    if (known?.attempt === attempt) return now - known.since
    this.#awaited.set(spec.id, { attempt, since: now })
    return 0
  }

  #lookLater(id: string): void {
    if (this.#looks.has(id)) return
    this.#looks.add(id)
    const { clock } = this.#world
    clock.ring(clock.now() + LOOK_LATER, () => {
      this.#looks.delete(id)
      this.#engine.look(id)
    })
  }

  /** Whatever rang since we looked is found by the next look, which comes after the letters were taken away. */
  #takeLetters(sessionId: string, attempt = Infinity): void {
    this.#world.store.assertEpoch()
    this.#world.work.heard({ sessionId, attempt })
  }

  /** Does what was decided, in order, and decides what is learned by it. */
  async performPending(id: string): Promise<void> {
    const { store } = this.#world
    for (let item = store.pending(id)[0]; item !== undefined && !this.#engine.isDown(); item = store.pending(id)[0]) {
      store.assertEpoch()
      const session = store.load(id)
      invariant(session !== undefined, `effect ${item.key} belongs to session ${id}, which is not there`)
      const learned = await perform(item.effect, session, this.worldOf(session))
      if (learned.length > 0) {
        while (this.takeIn(id, learned.some(isGone))); // What it wrote down last comes before what follows from its end.
        this.#recorder.decide(id, [...this.#recordAt(learned, id), ...learned])
      }
      store.settle(item.key)
    }
  }

  /** The agent's own record is looked up before it is concluded that nothing of its attempt is left. */
  #recordAt(learned: readonly Signal[], id: string): Signal[] {
    const session = this.#world.store.load(id)
    const gone = learned.find(isGone)
    if (session === undefined || gone?.attempt !== session.attempt) return []
    return lastLook(session, this.worldOf(session), gone.at)
  }

  worldOf(session: Session): Scene {
    const { work, clock, tracker } = this.#world
    const { id, cwd, beads = false } = session.spec
    const others = (): string[] => this.#threadsBeside(id)
    const { saveBefore, situation } = this.#engine
    const isTracked = (): boolean => beads && tracker.find({ cwd, env: work.environment(id) }) !== null
    return { work, clock, agent: this.#agentOf(session), others, isTracked, saveBefore, situation }
  }

  #threadsBeside(id: string): string[] {
    const others = this.#world.store.all().filter(({ spec }) => spec.id !== id)
    return others.flatMap(({ thread }) => thread.id ?? [])
  }

  #agentOf(session: Session): Agent {
    return this.#world.agents(session.spec.agent)
  }
}

function isGone(signal: Signal): signal is Extract<Signal, { type: 'tree.gone' }> {
  return signal.type === 'tree.gone'
}
