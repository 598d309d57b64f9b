import os from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { DEFAULT_TIMINGS } from '../core/session/supervisor-timings.ts'
import { homeAt } from '../state/home.ts'
import { readTimings } from './read-timings.ts'

const temporary = homeAt(path.join(os.tmpdir(), 'os-x', 'home'))

test('the supervisor has the default times unless a test shortens them', () => {
  expect(readTimings({}, temporary)).toBe(DEFAULT_TIMINGS)
  const env = { ONESHOT_TEST_TIMINGS: 'lockPatience=1000' }
  expect(readTimings(env, temporary)).toEqual({ ...DEFAULT_TIMINGS, lockPatience: 1_000 })
})

test('the supervisor refuses the times of a test for a state folder that is not temporary, and times that are wrong', () => {
  const real = homeAt('/home/me/.local/state/oneshot')
  const shorter = { ONESHOT_TEST_TIMINGS: 'lockPatience=1000' }
  expect(() => readTimings(shorter, real)).toThrow('ONESHOT_TEST_TIMINGS is for tests')
  expect(() => readTimings({ ONESHOT_TEST_TIMINGS: 'lockPatience=2d' }, temporary)).toThrow('NAME=MILLISECONDS')
})
