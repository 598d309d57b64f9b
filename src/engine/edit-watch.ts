import type { Trigger } from '../core/checkpoint.ts'
import { type Session, isIdle } from '../core/session.ts'
import type { Duration, Instant } from '../lib/time.ts'
import type { Clock } from '../ports/clock.ts'

/** So long after an edit it is saved, together with whatever followed it. */
const AFTER_EDIT: Duration = 5_000
/** Saving takes no more than one part in so many of the time. */
const SHARE = 20

interface Watched {
  tools: readonly string[]
  editedAt: Instant | null
  /** How long the last checkpoint took. */
  cost: Duration
  edit: (() => void) | null
  interval: () => void
}

/** Knows when the files of a session at work may have changed: after an edit or a tool's end, and every so often. */
export class EditWatch {
  readonly #clock: Clock
  readonly #wish: (sessionId: string, trigger: Trigger) => void
  readonly #watched = new Map<string, Watched>()

  constructor(clock: Clock, wish: (sessionId: string, trigger: Trigger) => void) {
    this.#clock = clock
    this.#wish = wish
  }

  follow(session: Session): void {
    const { id } = session.spec
    const isAtWork =
      session.phase.name !== 'ended' && !isIdle(session) && session.life !== null && session.exit === null
    if (!isAtWork) return this.#forget(id)
    const known = this.#watched.get(id)
    if (known === undefined) return this.#begin(session)
    const { editedAt } = session.activity
    const tools = session.activity.tools.map(tool => tool.id)
    const mayHaveChanged = editedAt !== known.editedAt || known.tools.some(tool => !tools.includes(tool))
    known.tools = tools
    known.editedAt = editedAt
    if (mayHaveChanged) this.#soon(id, known)
  }

  /** A checkpoint was made, and took so long. */
  saved(id: string, cost: Duration): void {
    const known = this.#watched.get(id)
    if (known === undefined) return
    known.cost = cost
  }

  stop(): void {
    for (const id of this.#watched.keys()) this.#forget(id)
  }

  /** What changed while nobody watched is saved soon. */
  #begin(session: Session): void {
    const { id } = session.spec
    const { editedAt } = session.activity
    const tools = session.activity.tools.map(tool => tool.id)
    const watched: Watched = { tools, editedAt, cost: 0, edit: null, interval: () => undefined }
    this.#watched.set(id, watched)
    this.#everySoOften(session, watched)
    this.#soon(id, watched)
  }

  #soon(id: string, watched: Watched): void {
    const pause = Math.max(AFTER_EDIT, watched.cost * SHARE)
    watched.edit ??= this.#clock.ring(this.#clock.now() + pause, () => {
      watched.edit = null
      this.#wish(id, 'edit')
    })
  }

  #everySoOften(session: Session, watched: Watched): void {
    const { id, saving } = session.spec
    const pause = Math.max(saving.interval, watched.cost * SHARE)
    watched.interval = this.#clock.ring(this.#clock.now() + pause, () => {
      this.#wish(id, 'interval')
      this.#everySoOften(session, watched)
    })
  }

  #forget(id: string): void {
    const watched = this.#watched.get(id)
    watched?.edit?.()
    watched?.interval()
    this.#watched.delete(id)
  }
}
