import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { VirtualClock } from '../../testkit/in-memory/virtual-clock.ts'
import { type RetryPolicy, fixedPause, pauseAfter, retry } from './retry-policy.ts'

test('the pause doubles with each failure up to its limit', () => {
  const policy: RetryPolicy = { firstPause: 5, maxPause: 30 }
  expect([1, 2, 3, 4, 400].map(failures => pauseAfter(policy, failures))).toEqual([5, 10, 20, 30, 30])
  expect([1, 2, 9].map(failures => pauseAfter(fixedPause(7), failures))).toEqual([7, 7, 7])
})

test('a pause never shrinks with failures and stays within the limit and its jitter', () => {
  const policies = fc.record({
    firstPause: fc.nat(10_000),
    maxPause: fc.nat(100_000),
    factor: fc.integer({ min: 1, max: 10 }),
    jitter: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  const chances = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  fc.assert(
    fc.property(policies, fc.integer({ min: 1, max: 2_000 }), chances, (policy, failures, chance) => {
      const pause = pauseAfter(policy, failures, chance)
      expect(pause).toBeLessThanOrEqual(Math.round(policy.maxPause * (1 + policy.jitter)))
      expect(pauseAfter(policy, failures + 1, chance)).toBeGreaterThanOrEqual(pause)
    }),
  )
})

test('an action is tried until it succeeds, or as often as the policy says', async () => {
  const clock = new VirtualClock(0)
  const { signal } = new AbortController()
  const tries: number[] = []
  const fail = (): never => {
    tries.push(clock.now())
    throw new Error('no')
  }
  const policy: RetryPolicy = { firstPause: 10, maxPause: 15, maxTries: 4 }
  const givenUp = expect(retry(fail, { policy, clock, signal })).rejects.toThrow('no')
  await clock.advance(100)
  await givenUp
  expect(tries).toEqual([0, 10, 25, 40])
  const hopeless = retry(fail, { policy, clock, signal, shouldRetry: () => false })
  await expect(hopeless).rejects.toThrow('no')
  expect(tries).toHaveLength(5)
  await expect(retry(() => 'done', { policy, clock, signal })).resolves.toBe('done')
})

test('an abort ends the pause, and nothing is tried after it', async () => {
  const clock = new VirtualClock(0)
  const controller = new AbortController()
  let tries = 0
  const fail = (): never => {
    tries += 1
    throw new Error('no')
  }
  const failed = expect(retry(fail, { policy: fixedPause(1_000), clock, signal: controller.signal })).rejects.toThrow(
    'no',
  )
  await clock.advance(10)
  controller.abort()
  await failed
  expect(tries).toBe(1)
})
