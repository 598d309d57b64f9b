import type { CheckpointTrigger } from '../../core/checkpoint/checkpoint.ts'
import type { SessionId } from '../../core/session/session-id-and-name.ts'
import { type Session, isIdle } from '../../core/session/session-state.ts'
import type { Duration, Instant } from '../../lib/time.ts'
import type { Clock } from '../../ports/clock.ts'

/** Saving takes at most one part in this many of the time. */
const MAX_COST_SHARE = 20

interface WatchedSession {
  tools: readonly string[]
  editedAt: Instant | null
  /** Duration of the last checkpoint. */
  cost: Duration
  /** Null while no edit waits for its checkpoint. */
  editDueAt: Instant | null
  intervalDueAt: Instant
}

export interface DueCheckpoint {
  readonly trigger: Extract<CheckpointTrigger, 'edit' | 'interval'>
  readonly dueAt: Instant
}

/**
 * Says when a running session is due for a checkpoint: after an edit, after the end of a tool, and at each interval.
 * Stores nothing: a new supervisor makes one checkpoint soon.
 */
export class CheckpointSchedule {
  readonly #clock: Clock
  readonly #editDelay: Duration
  readonly #watched = new Map<string, WatchedSession>()

  constructor(clock: Clock, editDelay: Duration) {
    this.#clock = clock
    this.#editDelay = editDelay
  }

  /** Returns the checkpoints that the session waits for; none if no program of it runs. */
  dueCheckpoints(session: Session): DueCheckpoint[] {
    const { id } = session.spec
    const isAtWork =
      session.phase.name !== 'ended' &&
      !isIdle(session) &&
      session.attempt.process !== null &&
      session.attempt.exit === null
    if (!isAtWork) {
      this.forget(id)
      return []
    }
    const { editDueAt, intervalDueAt } = this.#watch(session)
    const interval: DueCheckpoint = { trigger: 'interval', dueAt: intervalDueAt }
    return editDueAt === null ? [interval] : [interval, { trigger: 'edit', dueAt: editDueAt }]
  }

  /** Notes that the due checkpoint begins, so that a later edit gets one of its own. */
  begin({ spec }: Session, trigger: DueCheckpoint['trigger']): void {
    const watched = this.#watched.get(spec.id)
    if (watched === undefined) return
    if (trigger === 'edit') watched.editDueAt = null
    else watched.intervalDueAt = this.#dueAfter(spec.supervision.saving.interval, watched)
  }

  /** Sets the duration of the last checkpoint. */
  setCost(id: SessionId, cost: Duration): void {
    const watched = this.#watched.get(id)
    if (watched !== undefined) watched.cost = cost
  }

  forget(id: SessionId): void {
    this.#watched.delete(id)
  }

  /** Begins with an edit, because files may have changed while no supervisor watched. */
  #watch({ spec, attempt: { activity } }: Session): WatchedSession {
    const { editedAt } = activity
    const tools = activity.tools.map(tool => tool.id)
    const watched = this.#watched.get(spec.id) ?? {
      tools,
      editedAt,
      cost: 0,
      editDueAt: this.#clock.now() + this.#editDelay,
      intervalDueAt: this.#clock.now() + spec.supervision.saving.interval,
    }
    const mayHaveChanged = editedAt !== watched.editedAt || watched.tools.some(tool => !tools.includes(tool))
    if (mayHaveChanged) watched.editDueAt ??= this.#dueAfter(this.#editDelay, watched)
    this.#watched.set(spec.id, Object.assign(watched, { tools, editedAt }))
    return watched
  }

  #dueAfter(pause: Duration, { cost }: WatchedSession): Instant {
    return this.#clock.now() + Math.max(pause, cost * MAX_COST_SHARE)
  }
}
