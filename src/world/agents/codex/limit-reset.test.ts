import { expect, test } from 'vitest'
import { formatIso } from '../../../lib/time.ts'
import { parseLimitReset } from './limit-reset.ts'

const now = Date.parse('2026-11-15T13:00:30Z')

test.each([
  ['or try again at 2:01 PM.', 'UTC', '2026-11-15T14:02:00.000Z'],
  ['Try again at 11:59 PM.', 'UTC', '2026-11-16T00:00:00.000Z'],
  ['Try again at 1:00 PM.', 'UTC', '2026-11-15T13:01:00.000Z'],
  ['Try again at 9:00 AM.', 'America/New_York', '2026-11-15T14:01:00.000Z'],
  ['Try again at 12:30 AM.', 'Asia/Tokyo', null],
  ['Try again at 11:30 PM.', 'Asia/Tokyo', '2026-11-15T14:31:00.000Z'],
  ['Try again at Nov 16th, 2026 9:00 AM.', 'UTC', '2026-11-16T09:01:00.000Z'],
  ['Try again at Nov 21st, 2026 12:00 AM.', 'Europe/Berlin', '2026-11-20T23:01:00.000Z'],
  ['Try again at Mar 28th, 2027 3:30 AM.', 'Europe/Berlin', '2027-03-28T01:31:00.000Z'],
  ['Try again at Jul 3rd, 2027 12:15 PM.', 'Europe/Berlin', '2027-07-03T10:16:00.000Z'],
  ['Please try again in 11.054s.', 'UTC', '2026-11-15T13:00:41.054Z'],
  ['Please try again in 20 minutes', 'UTC', '2026-11-15T13:20:30.000Z'],
  ['Please try again in 850ms.', 'UTC', '2026-11-15T13:00:30.850Z'],
  ['Try again later.', 'UTC', null],
  ['Try again at 9:00 AM.', 'UTC', null],
  ['Try again at Foo 16th, 2026 9:00 AM.', 'UTC', null],
  ['Try again at 2:01 PM.', 'Nowhere/Land', null],
])('%s in %s is %s', (message, zone, expected) => {
  const at = parseLimitReset(message, now, zone)
  expect(at === null ? null : formatIso(at)).toBe(expected)
})
