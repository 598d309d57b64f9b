import type { Checkpoint } from '../../core/checkpoint.ts'
import type { Event } from '../../core/events.ts'

const MOST_EVENTS = 20
const MOST_CHECKPOINTS = 200

/** What became of a session, as far as the pages tell it: the last events and checkpoints. */
export class Story {
  readonly #events: Event[] = []
  readonly #checkpoints: Checkpoint[] = []
  #count = 0

  constructor(events: readonly Event[]) {
    for (const event of events) this.add(event)
  }

  add(event: Event): void {
    this.#events.push(event)
    if (this.#events.length > MOST_EVENTS) this.#events.shift()
    if (event.type !== 'checkpoint.saved') return
    this.#count++
    this.#checkpoints.push(event.checkpoint)
    if (this.#checkpoints.length > MOST_CHECKPOINTS) this.#checkpoints.shift()
  }

  get events(): readonly Event[] {
    return this.#events
  }

  get checkpoints(): readonly Checkpoint[] {
    return this.#checkpoints
  }

  get checkpointCount(): number {
    return this.#count
  }
}
