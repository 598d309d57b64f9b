import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatDuration, formatIso, parseDuration } from './time.ts'

test.each([
  ['90s', 90_000],
  ['5m', 300_000],
  ['1h30m', 5_400_000],
  ['250ms', 250],
  ['2d', 172_800_000],
  ['1.5h', 5_400_000],
  ['10', 10_000],
  ['0.5', 500],
  ['  5m ', 300_000],
  ['', undefined],
  ['5 m', undefined],
  ['m', undefined],
  ['5x', undefined],
  ['-5m', undefined],
  ['5m5', undefined],
  ['1e3', undefined],
  ['Infinity', undefined],
])('parseDuration reads %j as %j', (text, duration) => {
  expect(parseDuration(text)).toBe(duration)
})

test.each([
  [0, '0 ms'],
  [250, '250 ms'],
  [999.6, '1 s'],
  [1_500, '1.5 s'],
  [9_999, '10.0 s'],
  [12_400, '12 s'],
  [59_600, '1 min'],
  [90_000, '1 min 30 s'],
  [5_400_000, '1 h 30 min'],
  [86_400_000, '1 d'],
  [90_000_000, '1 d 1 h'],
  [-5, '0 ms'],
])('formatDuration formats %j milliseconds as %j', (duration, text) => {
  expect(formatDuration(duration)).toBe(text)
})

test('the formatted duration is exact within its smaller unit', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 30 * 86_400_000 }), duration => {
      const said = formatDuration(duration).replaceAll('min', 'm').replaceAll(' ', '')
      const tolerance = duration < 10_000 ? 51 : duration < 3_600_000 ? 500 : duration < 86_400_000 ? 60_000 : 3_600_000
      expect(Math.abs((parseDuration(said) as number) - duration)).toBeLessThanOrEqual(tolerance)
    }),
  )
})

test('formatIso writes an instant in ISO 8601', () => {
  expect(formatIso(0)).toBe('1970-01-01T00:00:00.000Z')
})
