import type { Argument } from './command.ts'
import { type Completes, text } from './kinds.ts'

/** The session a command is about. `otherwise` is what is meant without a name. */
export function sessionArgument(
  completes: Completes,
  otherwise = 'this directory’s most recent session unless given',
): Argument {
  return { kind: text('NAME', completes), summary: `name, task, id or a unique beginning; ${otherwise}` }
}
