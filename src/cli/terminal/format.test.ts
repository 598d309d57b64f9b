import { expect, test } from 'vitest'
import { relativeTime } from './format.ts'

const now = Date.parse('2026-11-15T12:00:00.000Z')

test.each([
  ['2026-11-15T12:00:00.400Z', 'now'],
  ['2026-11-15T11:59:01.000Z', '59 s ago'],
  ['2026-11-15T11:47:30.000Z', '12 min ago'],
  ['2026-11-14T13:00:00.000Z', '23 h ago'],
  ['2026-11-14T06:00:00.000Z', '30 h ago'],
  ['2026-11-08T12:00:00.000Z', '7 d ago'],
  ['2026-11-15T15:30:00.000Z', 'in 3 h 30 min'],
])('%s is %s', (at, expected) => {
  expect(relativeTime(at, now)).toBe(expected)
})
