import type { Keeping } from './checkpoints.ts'

/** Where a session's checkpoints are. */
export function keepingOf({ cwd, id, name }: { cwd: string; id: string; name: string }): Keeping {
  return { cwd, sessionId: id, name }
}
