import { defineConfig } from 'vitest/config'

/** Unit tests and stories run first; then what starts real processes, two files at a time. */
export default defineConfig({
  test: {
    reporters: ['default'],
    coverage: { provider: 'v8', include: ['src/core/**/*.ts'], exclude: ['**/*.test.ts'], reporter: ['text', 'text-summary'] },
    projects: [
      { test: { name: 'unit', include: ['src/**/*.test.ts', 'testkit/**/*.test.ts', 'test/scenarios/**/*.test.ts'], testTimeout: 30_000, sequence: { groupOrder: 0 } } },
      {
        test: {
          name: 'real',
          include: ['test/contracts/**/*.test.ts', 'test/system/**/*.test.ts', 'test/history/**/*.test.ts'],
          testTimeout: 90_000,
          hookTimeout: 90_000,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'attack',
          include: ['test/attack/**/*.test.ts'],
          // At full strength a single test takes up to ten minutes on two cores.
          testTimeout: process.env['ONESHOT_ATTACK'] === 'full' ? 1_800_000 : 90_000,
          hookTimeout: 90_000,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'agents',
          include: ['test/agents/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 90_000,
          maxWorkers: 2,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
})
