import { describeEvent } from '../core/describe-event.ts'
import type { Event, EventType } from '../core/events.ts'
import type { Session } from '../core/session.ts'
import { secretsIn } from '../lib/mask/env-secrets.ts'
import { Mask } from '../lib/mask/mask.ts'
import { oneLine } from '../lib/terminal-text.ts'

/** Between the agent and its user. */
const UNTOLD: ReadonlySet<EventType> = new Set(['agent.retrying', 'agent.unknown', 'message.confirmed', 'thread.known'])

interface Given {
  readonly environmentOf: (sessionId: string) => Readonly<Record<string, string>>
  readonly say: (sentence: string) => void
}

/** The supervisor's own story: what it decided about each session, and why. People paste it into reports, so secrets are hidden. */
export class EventLog {
  readonly #given: Given
  readonly #masks = new Map<string, { readonly attempt: number; readonly mask: Mask }>()

  constructor(given: Given) {
    this.#given = given
  }

  tell(session: Session, event: Event): void {
    if (UNTOLD.has(event.type)) return
    const { id, name } = session.spec
    this.#given.say(`${name} ${this.#maskFor(session).hide(oneLine(describeEvent(event)))}`)
    if (session.phase.name === 'ended') this.#masks.delete(id)
  }

  /** An environment changes only between attempts. */
  #maskFor({ spec: { id }, attempt }: Session): Mask {
    const known = this.#masks.get(id)
    if (known?.attempt === attempt) return known.mask
    const mask = new Mask(secretsIn(this.#given.environmentOf(id)))
    this.#masks.set(id, { attempt, mask })
    return mask
  }
}
