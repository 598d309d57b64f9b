import type { SessionView } from '../../api/contract/session-view.ts'
import type { Checkpoint } from '../../core/checkpoint.ts'
import type { Event } from '../../core/events.ts'
import type { Session } from '../../core/session.ts'
import { cut } from '../../lib/mask/cut.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import type { Instant } from '../../lib/time.ts'

/** What the pages about a session are made of. */
export interface Material {
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

const LONGEST = 300

/** Text from outside as a part of a line: it is one, has an end, and cannot be taken for one of our own. */
export function inLine(text: string): string {
  return cut(oneLine(text), LONGEST)
}

/** In a cell of a table. */
export function inCell(text: string): string {
  return inLine(text).replaceAll('|', '\\|')
}
