import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { judgeRestart } from './judge-restart.ts'
import { DEFAULT_RESTART } from './rules.ts'

const NOW = 1_000_000_000

function delayAfter(restarts: number, chance = 0): number | 'give-up' {
  const past = Array.from({ length: restarts }, () => NOW - 1)
  const verdict = judgeRestart(DEFAULT_RESTART, past, NOW, chance)
  return verdict.kind === 'restart' ? verdict.at - NOW : 'give-up'
}

test('restarts of a time that has not come yet do not count: the clock was set back', () => {
  const past = Array.from({ length: 20 }, () => NOW + 3_600_000)
  expect(judgeRestart(DEFAULT_RESTART, past, NOW, 0)).toEqual({ kind: 'restart', at: NOW })
})

test('the first retry comes at once, then each waits twice as long, up to a limit; then it gives up', () => {
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

test('restarts that lie longer back than the window are forgiven', () => {
  const long = Array.from({ length: 10 }, (_, i) => NOW - DEFAULT_RESTART.window - i)
  expect(judgeRestart(DEFAULT_RESTART, long, NOW, 0)).toEqual({ kind: 'restart', at: NOW })
})
