import type { Saving } from '../core/checkpoint.ts'
import type { Keeping } from './checkpoints.ts'

interface Whose {
  readonly cwd: string
  readonly id: string
  readonly name: string
  readonly umask?: number | undefined
  readonly saving?: Partial<Saving>
}

/** Where a session's checkpoints are, and what is left out of them. */
export function keepingOf({ cwd, id, name, umask, saving = {} }: Whose): Keeping {
  const { nested, push = null, pushUntracked = false } = saving
  return {
    cwd,
    sessionId: id,
    name,
    ...(umask !== undefined && { umask }),
    ...(nested !== undefined && { nested }),
    ...(push !== null && !pushUntracked && { withholdsSecrets: true }),
  }
}
