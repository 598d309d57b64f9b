import { expect, test } from 'vitest'
import { DEFAULT_TIMINGS, parseTimings } from './supervisor-timings.ts'

test('parseTimings shortens the named times and keeps the others', () => {
  const shorter = { ...DEFAULT_TIMINGS, interruptGrace: 300, trackerTimeout: 10_000 }
  expect(parseTimings(' interruptGrace=300  trackerTimeout=10000 ')).toEqual(shorter)
  expect(parseTimings('')).toEqual(DEFAULT_TIMINGS)
})

test.each([
  'interruptGrace',
  'interruptGrace=',
  'interruptGrace=0',
  'interruptGrace=-1',
  'interruptGrace=5s',
  'interruptGrace=5001',
  'interruptGrace=1e3',
  'toString=1',
  'grace=1',
  'interruptGrace=1,terminateGrace=1',
])('parseTimings refuses %j: a test can only shorten times that exist', text => {
  expect(parseTimings(text)).toBeUndefined()
})
