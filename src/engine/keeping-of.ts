import type { Spec } from '../core/session.ts'
import type { Keeping } from '../ports/checkpoints.ts'

/** Where a session's checkpoints are. */
export function keepingOf({ cwd, id, name, umask }: Spec): Keeping {
  return { cwd, sessionId: id, name, ...(umask !== undefined && { umask }) }
}
