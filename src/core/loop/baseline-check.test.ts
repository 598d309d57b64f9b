import { expect, test } from 'vitest'
import { countPassedTests } from './baseline-check.ts'

test.each([
  ['vitest', ' Test Files  3 passed (3)\n      Tests  12 passed | 1 skipped (13)\n   Duration  1.20s', 12],
  [
    'jest',
    'Test Suites: 2 passed, 2 total\nTests:       1 failed, 12 passed, 13 total\nSnapshots:   4 passed, 4 total',
    12,
  ],
  ['pytest', '=========== 12 passed, 1 skipped in 0.12s ===========', 12],
  ['pytest -q', '12 passed in 0.12s', 12],
  ['mocha', '\n  12 passing (8ms)\n', 12],
  ['node --test', 'ℹ tests 13\nℹ suites 2\nℹ pass 12\nℹ fail 1', 12],
  ['TAP of node --test', '# tests 12\n# pass 12\n# fail 0', 12],
  ['cargo', 'test result: ok. 9 passed; 0 failed; 0 ignored\n\ntest result: ok. 3 passed; 0 failed', 12],
  ['unittest', 'Ran 12 tests in 0.001s\n\nOK', 12],
  ['phpunit', 'OK (12 tests, 30 assertions)', 12],
  ['rspec', '12 examples, 0 failures', 12],
  ['bun', ' 12 pass\n 0 fail', 12],
  ['nothing', 'all is well\n', null],
])('%s', (_, output, count) => expect(countPassedTests(output)).toBe(count))
