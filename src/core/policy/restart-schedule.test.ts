import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { reasonNotToWait, scheduleRestart } from './restart-schedule.ts'
import { DEFAULT_RESTART } from '../session/supervision-options.ts'

const NOW = 1_000_000_000

function delayAfter(restarts: number, chance = 0): number | 'give-up' {
  const past = Array.from({ length: restarts }, () => NOW - 1)
  const verdict = scheduleRestart(DEFAULT_RESTART, past, NOW, chance)
  return verdict.kind === 'restart' ? verdict.at - NOW : 'give-up'
}

test('restarts in the future do not count: the clock was set back', () => {
  const past = Array.from({ length: 20 }, () => NOW + 3_600_000)
  expect(scheduleRestart(DEFAULT_RESTART, past, NOW, 0)).toEqual({ kind: 'restart', at: NOW })
})

test('the first restart is immediate, each later one waits twice as long, up to a limit; then the policy gives up', () => {
  expect(Array.from({ length: 12 }, (_, restarts) => delayAfter(restarts))).toEqual([
    0,
    2_000,
    4_000,
    8_000,
    16_000,
    32_000,
    64_000,
    64_000,
    64_000,
    64_000,
    'give-up',
    'give-up',
  ])
})

test('chance adds at most a quarter and takes nothing away', () => {
  fc.assert(
    fc.property(fc.nat(9), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (restarts, chance) => {
      const plain = delayAfter(restarts) as number
      const delay = delayAfter(restarts, chance) as number
      expect(delay).toBeGreaterThanOrEqual(plain)
      expect(delay).toBeLessThanOrEqual(Math.round(plain * 1.25))
    }),
  )
})

test('restarts older than the window do not count', () => {
  const long = Array.from({ length: 10 }, (_, i) => NOW - DEFAULT_RESTART.window - i)
  expect(scheduleRestart(DEFAULT_RESTART, long, NOW, 0)).toEqual({ kind: 'restart', at: NOW })
})

const HOUR = 3_600_000

test('a session waits for a limit up to the longest wait, counted from its first occurrence', () => {
  expect(reasonNotToWait({ limit: 5 * HOUR }, { since: 0, until: 5 * HOUR })).toBeNull()
  expect(reasonNotToWait({ limit: 5 * HOUR }, { since: 0, until: 5 * HOUR + 1 })).toBe(
    'it would last until 1970-01-01T05:00:00.001Z, and oneshot waits 5 h at most',
  )
})

test('the wait can be unlimited, or switched off', () => {
  expect(reasonNotToWait({ limit: null }, { since: 0, until: 1_000 * HOUR })).toBeNull()
  expect(reasonNotToWait({ limit: 0 }, { since: 0, until: 1 })).toBe('waiting for usage limits is switched off')
})
