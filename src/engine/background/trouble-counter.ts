import { type RepeatedTrouble, countTrouble } from '../../core/describe/repeated-action-failures.ts'
import type { SessionId } from '../../core/session/session-id-and-name.ts'
import { Trouble, errorMessage, rootReason } from '../../lib/errors.ts'
import type { Duration } from '../../lib/time.ts'
import type { Clock } from '../../ports/clock.ts'

/** Milliseconds between two writes for the same session and action. */
const WRITE_EVERY: Duration = 2_000

/** Keeps the repeated trouble of each session where `status` reads it. */
export interface TroubleRecords {
  /** Returns null if there is none. */
  readonly read: (sessionId: SessionId) => RepeatedTrouble | null
  readonly write: (sessionId: SessionId, trouble: RepeatedTrouble) => void
  readonly remove: (sessionId: SessionId) => void
}

interface Entry {
  readonly trouble: RepeatedTrouble
  /** Monotonic; null if this supervisor has not written the trouble yet. */
  readonly writtenAt: Duration | null
}

/**
 * Counts the failures in a row of each session, and records them from the second on. A failed write changes nothing:
 * the next failure writes again. Holds only sessions in trouble.
 */
export class TroubleCounter {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>
  readonly #records: TroubleRecords
  readonly #entries = new Map<string, Entry>()

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>, records: TroubleRecords) {
    this.#clock = clock
    this.#records = records
  }

  /** Continues the counts of the last supervisor. */
  load(sessionIds: readonly SessionId[]): void {
    for (const id of sessionIds) {
      const trouble = this.#records.read(id)
      if (trouble !== null) this.#entries.set(id, { trouble, writtenAt: null })
    }
  }

  addFailure(id: SessionId, doing: string, cause: unknown): void {
    const known = this.#entries.get(id)
    const reason = cause instanceof Trouble && cause.doing === doing ? rootReason(cause) : errorMessage(cause)
    const trouble = countTrouble(known?.trouble, { doing, reason, at: this.#clock.now() })
    const isNew = trouble.count === 1
    if (isNew && known !== undefined) ignoreErrors(() => this.#records.remove(id))
    const writtenAt = isNew ? null : (known?.writtenAt ?? null)
    const now = this.#clock.monotonic()
    const isDue = !isNew && (writtenAt === null || now - writtenAt >= WRITE_EVERY)
    const isWritten = isDue && ignoreErrors(() => this.#records.write(id, trouble))
    this.#entries.set(id, { trouble, writtenAt: isWritten ? now : writtenAt })
  }

  /** Ends the count of a session. If the record cannot be removed, the next success tries it again. */
  clear(id: SessionId): void {
    if (this.#entries.has(id) && ignoreErrors(() => this.#records.remove(id))) this.#entries.delete(id)
  }
}

/** Returns false if the action failed: a full disk must not add trouble to trouble. */
function ignoreErrors(action: () => void): boolean {
  try {
    action()
    return true
  } catch {
    return false
  }
}
