import { decide } from '../core/decide.ts'
import { hooksOf } from '../core/hooks.ts'
import { noticesOf } from '../core/notices.ts'
import type { Memory, Session } from '../core/session.ts'
import type { Signal } from '../core/signals.ts'
import { isNothing, type Step, step } from '../core/step.ts'
import { isDiskFull } from '../lib/trouble.ts'
import type { Tidings } from '../ports/notice-box.ts'
import { captionOf } from './caption.ts'
import { narrate } from './narrate.ts'
import type { World } from './world.ts'

/** What was read of an attempt's output to come to a decision. */
export interface ReadOutput {
  readonly output: number
  readonly memory: Memory
  readonly text: string
}

/** Turns signals into recorded decisions, and tells of each. */
export class Recorder {
  readonly #world: Pick<World, 'store' | 'work' | 'agents' | 'checkpoints' | 'rules' | 'onEvent'>
  readonly #listeners = new Set<(session: Session, tidings: Tidings) => void>()

  constructor(world: Pick<World, 'store' | 'work' | 'agents' | 'checkpoints' | 'rules' | 'onEvent'>) {
    this.#world = world
  }

  onRecord(listener: (session: Session, tidings: Tidings) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Records what follows from these signals, and from those that what follows from them leads to at once; false when nothing
   * does.
   */
  decide(
    id: string,
    signals: readonly Signal[],
    read?: ReadOutput,
    leadsTo: (decided: Step) => readonly Signal[] = () => [],
  ): boolean {
    const before = this.#world.store.load(id)
    if (before === undefined) return false
    const decided = this.#follow(step(before, []), signals)
    const total = this.#follow(decided, leadsTo(decided))
    const isUnread = read === undefined || read.output === before.bookmark.output
    if (isNothing(total, before) && isUnread) return false
    // A new attempt begins reading at its own start; only the attempt that was read is moved on.
    const isSameAttempt = total.session.attempt === before.attempt
    const { output, memory } = read !== undefined && isSameAttempt ? read : total.session.bookmark
    const bookmark = { ...total.session.bookmark, output, memory }
    this.record({ ...total, session: { ...total.session, bookmark } }, read?.text)
    return true
  }

  #follow(decided: Step, signals: readonly Signal[]): Step {
    return signals.reduce((total, signal) => {
      const { session, events, effects } = decide(total.session, signal, this.#world.rules)
      return step(session, [...total.events, ...events], [...total.effects, ...effects])
    }, decided)
  }

  /** Where nothing can be saved, nothing is wanted. */
  #keepable(session: Session): Session {
    const { saved, spec } = session
    if (saved.wanted === null || this.#world.checkpoints.isPlace(spec.cwd)) return session
    return { ...session, saved: { ...saved, wanted: null } }
  }

  /** The transcript is written first: cut to the recorded length, so that after a crash it is written again the same. */
  record(decision: Step, words = ''): void {
    const { work, store, agents } = this.#world
    const { session } = decision
    const isTold = agents(session.spec.agent).read !== undefined
    const text = words + (isTold ? decision.events.map(event => narrate(event) ?? '').join('') : '')
    store.assertEpoch() // The transcript belongs to whoever is in charge.
    const transcript = text === '' ? session.bookmark.transcript : this.#write(session, text)
    const told = this.#keepable({ ...session, bookmark: { ...session.bookmark, transcript } })
    const tidings = { notices: noticesOf(told, decision.events), hooks: hooksOf(told, decision.events) }
    store.record({ ...decision, session: told }, tidings)
    if (told.phase.name !== 'ended') work.caption(told.spec.id, captionOf(told))
    for (const event of decision.events) this.#world.onEvent?.(told, event)
    for (const listener of this.#listeners) listener(told, tidings)
  }

  /**
   * A full disk holds up what an agent says until there is room. It does not hold up an end: the agent's own output has those
   * words, and the transcript goes without them.
   */
  #write({ spec, bookmark, phase }: Session, text: string): number {
    try {
      return this.#world.work.write(spec.id, bookmark.transcript, text)
    } catch (cause) {
      if (!isDiskFull(cause) || phase.name === 'starting' || phase.name === 'running') throw cause
      return bookmark.transcript
    }
  }
}
