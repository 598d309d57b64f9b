import { describeEvent } from '../core/describe/event.ts'
import type { Event, EventType } from '../core/session/events.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import type { Session } from '../core/session/session-state.ts'
import type { Mask } from '../lib/mask/mask.ts'
import { toOneLine } from '../lib/text/strip-terminal-controls.ts'

/** Events that concern only the agent and its user. */
const OMITTED_EVENTS: ReadonlySet<EventType> = new Set([
  'agent.retrying',
  'agent.unknown',
  'message.confirmed',
  'thread.known',
])

interface EventLogContext {
  readonly maskOf: (sessionId: SessionId) => Mask
  readonly log: (sentence: string) => void
}

/**
 * Writes the supervisor's decisions about each session, with reasons, to its log. People paste the log into reports, so
 * the event log masks secrets.
 */
export class EventLog {
  readonly #context: EventLogContext
  readonly #masks = new Map<string, { readonly attempt: number; readonly mask: Mask }>()

  constructor(context: EventLogContext) {
    this.#context = context
  }

  write(session: Session, event: Event): void {
    if (OMITTED_EVENTS.has(event.type)) return
    const { id, name } = session.spec
    this.#context.log(`${name} ${this.#maskFor(session).maskText(toOneLine(describeEvent(event)))}`)
    if (session.phase.name === 'ended') this.#masks.delete(id)
  }

  /** Caches the mask per attempt, because the environment changes only between attempts. */
  #maskFor({ spec: { id }, attempt: { number: attempt } }: Session): Mask {
    const known = this.#masks.get(id)
    if (known?.attempt === attempt) return known.mask
    const mask = this.#context.maskOf(id)
    this.#masks.set(id, { attempt, mask })
    return mask
  }
}
