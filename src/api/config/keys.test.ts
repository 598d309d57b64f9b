import { expect, test } from 'vitest'
import { KEY_NAMES, KEYS, showValue } from './keys.ts'

test.each(KEY_NAMES)('%s: what is shown can be read again', name => {
  const { fallback, read } = KEYS[name]
  const shown = showValue(name, fallback)
  expect(shown === '' ? null : read(shown)).toEqual(fallback)
})

test('durations are shown as one would write them', () => {
  expect([1000, 5_400_000, 90_000, 250].map(KEYS['checkpoint-interval'].show)).toEqual([
    '1s',
    '1h30m',
    '1m30s',
    '250ms',
  ])
})
