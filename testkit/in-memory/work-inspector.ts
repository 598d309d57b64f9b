import type { InspectedWork } from '../../src/core/policy/verify.ts'
import type { WorkInspector } from '../../src/ports/checks.ts'

/** What somebody who looks at the work would see. */
export const NO_WORK: InspectedWork = {
  work: { commits: [], commitCount: 0, change: { files: 0, added: 0, removed: 0 }, files: [], uncommitted: 0 },
  failures: [],
  checked: null,
}

/** Sees what is there when it is asked. */
export function inMemoryWorkInspector(shown: () => InspectedWork): WorkInspector {
  return {
    inspect: async () => {
      await Promise.resolve()
      return shown()
    },
  }
}
