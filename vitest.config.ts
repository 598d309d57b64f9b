import { defineConfig } from 'vitest/config'

/** Unit tests and stories run side by side; what starts real processes runs file by file, two at a time. */
export default defineConfig({
  test: {
    reporters: ['default'],
    projects: [
      { test: { name: 'unit', include: ['src/**/*.test.ts', 'test/scenarios/**/*.test.ts'], testTimeout: 20_000 } },
      {
        test: {
          name: 'real',
          include: ['test/contracts/**/*.test.ts', 'test/system/**/*.test.ts', 'test/history/**/*.test.ts'],
          testTimeout: 90_000,
          hookTimeout: 90_000,
          maxWorkers: 2,
        },
      },
    ],
  },
})
