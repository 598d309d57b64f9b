import type { Shown } from '../../core/prove.ts'
import type { Witness } from '../../ports/witness.ts'

/** What somebody who looks at the work would see. */
export const NOTHING_DONE: Shown = {
  work: { commits: [], commitCount: 0, change: { files: 0, added: 0, removed: 0 }, files: [], uncommitted: 0 },
  failures: [],
  checked: null,
}

/** Sees what is there when it is asked. */
export function memoryWitness(shown: () => Shown): Witness {
  return {
    see: async () => {
      await Promise.resolve()
      return shown()
    },
  }
}
