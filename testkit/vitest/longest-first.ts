import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take longest in `npm test`, in this order. If they started last, one worker would end long after the others. */
const LONGEST = [
  'scenarios/crash-sweep/restarts.test.ts',
  'scenarios/crash-sweep/conversations.test.ts',
  'system/loop.test.ts',
  'system/loop-evidence.test.ts',
  'system/loop-cli.test.ts',
  'system/docs.test.ts',
  'system/notify.test.ts',
  'system/checkpoints.test.ts',
  'attack/hostile-text.test.ts',
  'system/json-contract.test.ts',
  'system/environment-failures.test.ts',
  'system/prompts.test.ts',
  'system/inspection-commands.test.ts',
  'system/boot.test.ts',
  'system/commands.test.ts',
  'system/verify.test.ts',
  'system/reboot.test.ts',
  'system/kill-recovery.test.ts',
]

/** Starts the longest files first, then the other files on real processes, then unit tests, large files first. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => rank(one) - rank(other))
  }
}

function rank({ moduleId }: TestSpecification): number {
  const place = LONGEST.findIndex(name => moduleId.endsWith(`/test/${name}`))
  if (place >= 0) return place
  return LONGEST.length + (/\/test\/(contracts|system|history|attack)\//.test(moduleId) ? 0 : 1)
}
