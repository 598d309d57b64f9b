import type { SessionView } from '../../api/contract/responses.ts'
import type { Checkpoint } from '../../core/checkpoint/checkpoint.ts'
import type { Event } from '../../core/session/events.ts'
import type { Session } from '../../core/session/session.ts'
import { maskAndTruncate } from '../../lib/mask/mask.ts'
import { toOneLine } from '../../lib/text/terminal-text.ts'
import type { Instant } from '../../lib/time.ts'

/** What the pages about a session are made of. */
export interface PageData {
  readonly session: Session
  readonly view: SessionView
  /** The last ones, in order. */
  readonly events: readonly Event[]
  /** The last ones, in order, and how many there were in all. */
  readonly checkpoints: readonly Checkpoint[]
  readonly checkpointCount: number
  /** The last line that was said. */
  readonly lastWords: string | null
  readonly now: Instant
}

const MAX_LENGTH = 300

/** Text from outside as a part of a line: it is one, has an end, and cannot be taken for one of our own. */
export function toLine(text: string): string {
  return maskAndTruncate(toOneLine(text), MAX_LENGTH)
}

/** In a cell of a table. */
export function toCell(text: string): string {
  return toLine(text).replaceAll('|', '\\|')
}
