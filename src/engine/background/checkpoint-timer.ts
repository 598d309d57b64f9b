import type { CheckpointTrigger } from '../../core/checkpoint/checkpoint.ts'
import { type Session, isIdle } from '../../core/session/session.ts'
import type { Duration, Instant } from '../../lib/time.ts'
import type { Clock } from '../../ports/clock.ts'

/** Milliseconds between an edit and its checkpoint, so that one checkpoint also covers the edits that follow. */
const AFTER_EDIT: Duration = 5_000
/** Saving takes at most one part in this many of the time. */
const MAX_COST_SHARE = 20

interface WatchedSession {
  tools: readonly string[]
  editedAt: Instant | null
  /** Duration of the last checkpoint. */
  cost: Duration
  edit: (() => void) | null
  interval: () => void
}

/** Requests a checkpoint of a running session after an edit, after the end of a tool, and at each interval. */
export class CheckpointTimer {
  readonly #clock: Clock
  readonly #request: (sessionId: string, trigger: CheckpointTrigger) => void
  readonly #watched = new Map<string, WatchedSession>()

  constructor(clock: Clock, request: (sessionId: string, trigger: CheckpointTrigger) => void) {
    this.#clock = clock
    this.#request = request
  }

  onSessionChanged(session: Session): void {
    const { id } = session.spec
    const isAtWork =
      session.phase.name !== 'ended' && !isIdle(session) && session.life !== null && session.exit === null
    if (!isAtWork) return this.#stopWatching(id)
    const known = this.#watched.get(id)
    if (known === undefined) return this.#startWatching(session)
    const { editedAt } = session.activity
    const tools = session.activity.tools.map(tool => tool.id)
    const mayHaveChanged = editedAt !== known.editedAt || known.tools.some(tool => !tools.includes(tool))
    known.tools = tools
    known.editedAt = editedAt
    if (mayHaveChanged) this.#scheduleAfterEdit(id, known)
  }

  /** Sets the duration of the last checkpoint. */
  setCost(id: string, cost: Duration): void {
    const known = this.#watched.get(id)
    if (known === undefined) return
    known.cost = cost
  }

  stop(): void {
    for (const id of this.#watched.keys()) this.#stopWatching(id)
  }

  /** Starts the timers. The first request follows soon, because files may have changed while no supervisor watched. */
  #startWatching(session: Session): void {
    const { id } = session.spec
    const { editedAt } = session.activity
    const tools = session.activity.tools.map(tool => tool.id)
    const watched: WatchedSession = { tools, editedAt, cost: 0, edit: null, interval: () => undefined }
    this.#watched.set(id, watched)
    this.#scheduleInterval(session, watched)
    this.#scheduleAfterEdit(id, watched)
  }

  #scheduleAfterEdit(id: string, watched: WatchedSession): void {
    const pause = Math.max(AFTER_EDIT, watched.cost * MAX_COST_SHARE)
    watched.edit ??= this.#clock.schedule(this.#clock.now() + pause, () => {
      watched.edit = null
      this.#request(id, 'edit')
    })
  }

  #scheduleInterval(session: Session, watched: WatchedSession): void {
    const { id, saving } = session.spec
    const pause = Math.max(saving.interval, watched.cost * MAX_COST_SHARE)
    watched.interval = this.#clock.schedule(this.#clock.now() + pause, () => {
      this.#request(id, 'interval')
      this.#scheduleInterval(session, watched)
    })
  }

  #stopWatching(id: string): void {
    const watched = this.#watched.get(id)
    watched?.edit?.()
    watched?.interval()
    this.#watched.delete(id)
  }
}
