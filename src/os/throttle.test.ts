import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { throttle } from './throttle.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

test('the first call goes through at once, and the calls in the pause become one at its end', () => {
  let calls = 0
  const call = throttle(150, () => calls++)
  call()
  expect(calls).toBe(1)
  for (let i = 0; i < 10; i++) call()
  expect(calls).toBe(1)
  vi.advanceTimersByTime(150)
  expect(calls).toBe(2)
  vi.advanceTimersByTime(1_000)
  expect(calls).toBe(2)
})

test('any number of calls goes through once in each pause, and the last call is not lost', () => {
  let calls = 0
  const call = throttle(100, () => calls++)
  for (let at = 0; at <= 1_000; at += 10) {
    call()
    vi.advanceTimersByTime(10)
  }
  expect(calls).toBe(11)
  vi.advanceTimersByTime(200)
  expect(calls).toBe(12)
})

test('a call from within the callback is not lost either', () => {
  let calls = 0
  const call: () => void = throttle(100, () => {
    if (++calls < 3) call()
  })
  call()
  vi.advanceTimersByTime(1_000)
  expect(calls).toBe(3)
})
