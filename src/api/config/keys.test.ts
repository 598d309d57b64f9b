import { expect, test } from 'vitest'
import { KEY_NAMES, KEYS, showValue } from './keys.ts'

test.each(KEY_NAMES)('%s: read accepts the text that show returns', name => {
  const { fallback, read } = KEYS[name]
  const shown = showValue(name, fallback)
  expect(shown === '' ? null : read(shown)).toEqual(fallback)
})

test('show returns durations in the syntax of a config file', () => {
  expect([1000, 5_400_000, 90_000, 250].map(KEYS['checkpoint-interval'].show)).toEqual([
    '1s',
    '1h30m',
    '1m30s',
    '250ms',
  ])
})
