import { defineConfig } from 'vitest/config'
import { LongestFirst } from './testkit/vitest/longest-first.ts'

/**
 * Tests on real processes mostly wait, so more files run at a time than most machines have cores. All projects share
 * the workers, without a barrier between them.
 */
const WORKERS = 4
/** At full strength a single attack takes up to ten minutes on two cores. */
const ATTACK_TIMEOUT = process.env['ONESHOT_ATTACK'] === 'full' ? 1_800_000 : 90_000

const shared = { maxWorkers: WORKERS, isolate: false, hookTimeout: 90_000, setupFiles: ['testkit/vitest/set-up.ts'] }

export default defineConfig({
  test: {
    reporters: ['default'],
    coverage: { provider: 'v8', include: ['src/core/**/*.ts'], exclude: ['**/*.test.ts'], reporter: ['text', 'text-summary'] },
    sequence: { sequencer: LongestFirst },
    tags: [{ name: 'extended', description: 'A case that `npm run test:all` runs and `npm test` leaves out.' }],
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          include: ['src/**/*.test.ts', 'testkit/**/*.test.ts', 'test/scenarios/**/*.test.ts'],
          testTimeout: 90_000,
        },
      },
      {
        test: {
          ...shared,
          name: 'real',
          include: ['test/contracts/**/*.test.ts', 'test/system/**/*.test.ts', 'test/history/**/*.test.ts'],
          testTimeout: 90_000,
        },
      },
      { test: { ...shared, name: 'attack', include: ['test/attack/**/*.test.ts'], testTimeout: ATTACK_TIMEOUT } },
      {
        test: {
          name: 'agents',
          include: ['test/agents/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 90_000,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
