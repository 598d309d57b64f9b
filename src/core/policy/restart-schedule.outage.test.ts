import { expect, test } from 'vitest'
import { retryTimeAfterOutage } from './restart-schedule.ts'

const NOW = 1_000_000

test('a session waits until a limit ends, some sessions a little longer than others', () => {
  const limit = { until: NOW + 3_600_000, isLimit: true, inARow: 5 }
  expect(retryTimeAfterOutage(limit, NOW, 0)).toBe(NOW + 3_601_000)
  expect(retryTimeAfterOutage(limit, NOW, 0.5)).toBe(NOW + 3_631_000)
})

test('without a known time, or after it, the pause doubles up to a maximum', () => {
  const waits = (isLimit: boolean, until: number | null = null): number[] =>
    [0, 1, 2, 9, 1_000].map(inARow => retryTimeAfterOutage({ until, isLimit, inARow }, NOW, 0) - NOW)
  expect(waits(false)).toEqual([5_000, 10_000, 20_000, 300_000, 300_000])
  expect(waits(true)).toEqual([60_000, 120_000, 240_000, 1_800_000, 1_800_000])
  expect(waits(true, NOW - 1)).toEqual(waits(true))
})
