import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { failuresIn } from './failure-lines.ts'

it.each([
  'error: pathspec "x" did not match',
  'git: fatal: not a git repository',
  'error[E0308]: mismatched types',
  'TypeError: x is not a function',
  'Traceback (most recent call last):',
  'npm ERR! code ELIFECYCLE',
  '✗ Task 3: add login',
  'FAIL src/a.test.ts',
  '[ERROR] no such thing',
  'Tests: 2 failed, 10 passed',
  '=== 1 failed, 3 passed in 0.2s ===',
  'Task 4 failed after 3 retries',
  'unable to commit the changes',
  'Rate limit reached, try again later',
  'Maximum iterations reached',
])('%s: tells of failure', line => {
  expect(failuresIn(['fine', `  ${line}  `])).toEqual([line])
})

it.each([
  'Tests: 0 failed, 12 passed',
  'finished without errors',
  'no errors found',
  'added error handling to the parser',
  'the failed login page now has a test',
  'wrote src/errors.ts',
  '10 passed',
  '',
])('%s: tells of none', line => {
  expect(failuresIn([line])).toEqual([])
})

it('any text is answered with some of its own lines, in order', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), lines => {
      const trimmed = lines.map(line => line.trim().slice(0, 200))
      let from = 0
      for (const found of failuresIn(lines)) {
        const at = trimmed.indexOf(found, from)
        expect(at).toBeGreaterThanOrEqual(from)
        from = at + 1
      }
    }),
  )
})
