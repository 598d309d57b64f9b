import type { Argument } from './command.ts'
import { type Completes, text } from './kinds.ts'

/** The session a command is about. */
export function sessionArgument(completes: Completes): Argument {
  return {
    kind: text('NAME', completes),
    summary: 'name, task, id or a unique beginning; this directory’s most recent session unless given',
  }
}
