import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { type CheckStatus, type SessionWork, type VerificationInput, findFailureLines, verifyWork } from './verify.ts'

const WORK: SessionWork = {
  commits: [{ id: 'a'.repeat(40), subject: 'add login' }],
  commitCount: 3,
  change: { files: 12, added: 100, removed: 4 },
  files: ['a'],
  uncommitted: 0,
}
const NO_WORK: SessionWork = {
  commits: [],
  commitCount: 0,
  change: { files: 0, added: 0, removed: 0 },
  files: [],
  uncommitted: 0,
}
const PASSED: CheckStatus = { kind: 'passed', line: 'npm test', how: 'npm test: exit code 0 after 2 s' }
const FAILED: CheckStatus = { kind: 'failed', line: 'npm test', how: 'npm test: exit code 1 after 2 s' }
const UNKNOWN: CheckStatus = { kind: 'unknown', line: 'npm test', how: 'npm test: exit code 127 after 2 ms' }
const ALL_WELL: VerificationInput = {
  state: 'done',
  reason: 'exit code 0',
  work: WORK,
  said: null,
  failures: [],
  checked: PASSED,
}

it.each<[string, Partial<VerificationInput>]>([
  ['proven: 3 commits, 12 files, npm test passes', {}],
  ['changed, not tested: 3 commits, 12 files, the project has no check', { checked: { kind: 'none' } }],
  ['changed, not tested: 3 commits, 12 files, no check was run', { checked: { kind: 'off' } }],
  ['changed, not tested: 3 commits, 12 files, npm test passes, but runs no test', { checked: { ...PASSED, tests: 0 } }],
  ['proven: 3 commits, 12 files, 2 of them not committed, npm test passes', { work: { ...WORK, uncommitted: 2 } }],
  [
    'proven: 1 file, not committed, npm test passes',
    { work: { ...WORK, commitCount: 0, uncommitted: 1, change: { files: 1, added: 1, removed: 0 } } },
  ],
  ['proven: 3 commits, 12 files, npm test passes', { failures: ['error: x'] }],
  [
    'changed, not tested: 3 commits, 12 files, no check was run',
    { failures: ['error: x'], said: 'done', checked: { kind: 'off' } },
  ],
  ['refuted: npm test fails (3 commits, 12 files)', { checked: FAILED }],
  ['refuted: “a; b” fails', { checked: { ...FAILED, line: 'a; b' }, work: NO_WORK }],
  ['refuted: npm test fails', { checked: FAILED, work: NO_WORK }],
  [
    'refuted: it failed: exit code 7 (3 commits, 12 files, npm test passes)',
    { state: 'failed', reason: 'exit code 7' },
  ],
  ['not proven: it changed no file', { work: NO_WORK }],
  ['not proven: it changed no file', { work: { ...NO_WORK, commitCount: 2 } }],
  ['not proven: oneshot cannot tell what changed: git is gone', { work: 'git is gone' }],
  ['not proven: it is still running (3 commits, 12 files, npm test passes)', { state: 'at-work' }],
  [
    'not proven: it did not finish: stopped by you (3 commits, 12 files, no check was run)',
    { state: 'stopped', reason: 'stopped by you', checked: { kind: 'off' } },
  ],
  ['not proven: npm test: exit code 127 after 2 ms (3 commits, 12 files)', { checked: UNKNOWN }],
  [
    'not proven: its output reports a failure: error: y (3 commits, 12 files, no check was run)',
    { failures: ['error: x', 'error: y'], checked: { kind: 'off' } },
  ],
])('%s', (sentence, differences) => {
  expect(verifyWork({ ...ALL_WELL, ...differences }).sentence).toBe(sentence)
})

it('the verdict lists all objections, the most serious first', () => {
  const { reasons } = verifyWork({
    ...ALL_WELL,
    state: 'failed',
    reason: 'exit code 1',
    work: NO_WORK,
    checked: FAILED,
  })
  expect(reasons).toEqual(['npm test fails', 'it failed: exit code 1', 'it changed no file'])
})

const GROUNDS: fc.Arbitrary<VerificationInput> = fc.record({
  state: fc.constantFrom('done', 'failed', 'stopped', 'gave-up', 'at-work'),
  reason: fc.option(fc.string()),
  work: fc.oneof(
    fc.string(),
    fc.record({ commitCount: fc.nat(3), files: fc.nat(3), uncommitted: fc.nat(3) }).map(({ files, ...rest }) => ({
      ...WORK,
      ...rest,
      change: { files, added: files, removed: 0 },
    })),
  ),
  said: fc.option(fc.string()),
  failures: fc.array(fc.string(), { maxLength: 2 }),
  checked: fc.constantFrom<CheckStatus>(PASSED, FAILED, UNKNOWN, { kind: 'none' }, { kind: 'off' }),
})

it('nothing is proven without work, a good end and a check that did not fail', () => {
  fc.assert(
    fc.property(GROUNDS, grounds => {
      const { verdict, sentence, reasons } = verifyWork(grounds)
      const { work, state, checked } = grounds
      const hasWork = work !== null && typeof work !== 'string' && work.change.files > 0
      if (verdict === 'proven') expect([hasWork, state]).toEqual([true, 'done'])
      if (checked?.kind === 'failed' || state === 'failed' || state === 'gave-up') expect(verdict).toBe('refuted')
      else expect(verdict).not.toBe('refuted')
      if (checked?.kind === 'unknown') expect(verdict).not.toBe('proven')
      const isUntested = checked?.kind === 'none' || checked?.kind === 'off'
      const word = verdict === 'proven' && isUntested ? 'changed, not tested' : verdict.replace('-', ' ')
      expect(sentence.startsWith(`${word}: `)).toBe(true)
      expect(reasons.length).toBeGreaterThan(0)
    }),
  )
})

it('more evidence of the same kind never worsens the verdict', () => {
  fc.assert(
    fc.property(GROUNDS, grounds => {
      if (verifyWork(grounds).verdict !== 'proven') return
      expect(verifyWork({ ...grounds, checked: PASSED }).verdict).toBe('proven')
      expect(verifyWork({ ...grounds, said: 'all is done' }).verdict).toBe('proven')
    }),
  )
})

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
])('%s: reports a failure', line => {
  expect(findFailureLines(['fine', `  ${line}  `])).toEqual([line])
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
])('%s: reports no failure', line => {
  expect(findFailureLines([line])).toEqual([])
})

it('findFailureLines returns only lines of the text, in order', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), lines => {
      const trimmed = lines.map(line => line.trim().slice(0, 200))
      let from = 0
      for (const found of findFailureLines(lines)) {
        const at = trimmed.indexOf(found, from)
        expect(at).toBeGreaterThanOrEqual(from)
        from = at + 1
      }
    }),
  )
})
