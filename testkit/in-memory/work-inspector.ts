import type { InspectedWork } from '../../src/core/policy/verify.ts'
import type { WorkInspector } from '../../src/ports/checks.ts'

/** The result of an inspection that finds no work. */
export const NO_WORK: InspectedWork = {
  work: { commits: [], commitCount: 0, change: { files: 0, added: 0, removed: 0 }, files: [], uncommitted: 0 },
  failures: [],
  checked: null,
}

/** Returns an inspector that reports the current value of `shown`. */
export function inMemoryWorkInspector(shown: () => InspectedWork): WorkInspector {
  return {
    inspect: async () => {
      await Promise.resolve()
      return shown()
    },
  }
}
