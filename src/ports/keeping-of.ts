import type { Keeping } from './checkpoints.ts'

interface Whose {
  readonly cwd: string
  readonly id: string
  readonly name: string
  readonly umask?: number | undefined
}

/** Where a session's checkpoints are. */
export function keepingOf({ cwd, id, name, umask }: Whose): Keeping {
  return { cwd, sessionId: id, name, ...(umask !== undefined && { umask }) }
}
