import { expect, test } from 'vitest'
import { makePaint, shouldUseColor } from './colors.ts'

test.each([
  ['always', { NO_COLOR: '1' }, false, true],
  ['never', { FORCE_COLOR: '1' }, true, false],
  ['auto', { NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
  [undefined, { CLICOLOR_FORCE: '1' }, false, true],
  [undefined, { FORCE_COLOR: '0' }, false, false],
  [undefined, { NO_COLOR: '' }, true, true],
  [undefined, { TERM: 'dumb' }, true, false],
  [undefined, {}, true, true],
  [undefined, {}, false, false],
] as const)('--color %s with %j on a terminal: %s → coloured: %s', (choice, env, isTerminal, expected) => {
  expect(shouldUseColor(choice, env, isTerminal)).toBe(expected)
})

test('an empty text gets no colour codes', () => {
  expect(makePaint(true).red('')).toBe('')
})
