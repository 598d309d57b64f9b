import { defineConfig } from 'vitest/config'
import { LongestFirst } from './testkit/vitest/longest-first.ts'

/**
 * Tests on real processes mostly wait, so more files run at a time than most machines have cores. All projects share
 * the workers, without a barrier between them.
 */
const WORKERS = 5
/** At full strength a single attack takes up to ten minutes on two cores. */
const ATTACK_TIMEOUT = process.env['ONESHOT_ATTACK'] === 'full' ? 1_800_000 : 90_000

const UNIT = ['src/**/*.test.ts', 'testkit/**/*.test.ts', 'bench/**/*.test.ts', 'test/scenarios/**/*.test.ts']
const REAL = ['test/contracts/**/*.test.ts', 'test/system/**/*.test.ts', 'test/history/**/*.test.ts']
const ATTACK = ['test/attack/**/*.test.ts']

const shared = {
  maxWorkers: WORKERS,
  isolate: false,
  testTimeout: 90_000,
  hookTimeout: 90_000,
  setupFiles: ['testkit/vitest/set-up.ts'],
}

const PROJECTS = [
  { test: { ...shared, name: 'unit', include: UNIT } },
  { test: { ...shared, name: 'real', include: REAL } },
  { test: { ...shared, name: 'attack', include: ATTACK, testTimeout: ATTACK_TIMEOUT } },
  {
    test: {
      name: 'agents',
      setupFiles: ['testkit/vitest/set-up.ts'],
      include: ['test/agents/**/*.test.ts'],
      testTimeout: 300_000,
      hookTimeout: 90_000,
      maxWorkers: 2,
      sequence: { groupOrder: 1 },
    },
  },
]

/**
 * Each project transforms all modules for itself. `npm test` runs the first three projects as one, which takes a third
 * less processor time for that.
 */
const WHOLE = [{ test: { ...shared, name: 'whole', include: [...UNIT, ...REAL, ...ATTACK] } }]

export default defineConfig({
  test: {
    reporters: ['default'],
    coverage: { provider: 'v8', include: ['src/core/**/*.ts'], exclude: ['**/*.test.ts'], reporter: ['text', 'text-summary'] },
    sequence: { sequencer: LongestFirst },
    tags: [{ name: 'extended', description: 'A case that `npm run test:all` runs and `npm test` leaves out.' }],
    projects: process.env['ONESHOT_TESTS'] === undefined ? PROJECTS : WHOLE,
  },
})
