import type { SessionView } from '../../api/contract/responses.ts'
import type { Checkpoint } from '../../core/checkpoint/checkpoint.ts'
import type { Event } from '../../core/session/events.ts'
import type { Session } from '../../core/session/session-state.ts'
import { maskAndTruncate } from '../../lib/mask/mask.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import type { Instant } from '../../lib/time.ts'

/** The data for the pages about a session. */
export interface PageData {
  readonly session: Session
  readonly view: SessionView
  /** The last events, in order. */
  readonly events: readonly Event[]
  /** The last checkpoints, in order, and in `checkpointCount` their total number. */
  readonly checkpoints: readonly Checkpoint[]
  readonly checkpointCount: number
  /** The last line of output. */
  readonly lastWords: string | null
  readonly now: Instant
}

const MAX_LENGTH = 300

/**
 * Turns outside text into a part of one line: it has a maximum length and no line breaks, so that it cannot imitate the
 * page's own lines.
 */
export function toLine(text: string): string {
  return maskAndTruncate(toOneLine(text), MAX_LENGTH)
}

/** Escapes outside text for a cell of a table. */
export function toCell(text: string): string {
  return toLine(text).replaceAll('|', '\\|')
}
