import { expect, test } from 'vitest'
import { judgeWait } from './judge-wait.ts'

const HOUR = 3_600_000

test('a limit is waited for up to the longest wait, counted from when it was first met', () => {
  expect(judgeWait({ limit: 5 * HOUR }, { since: 0, until: 5 * HOUR })).toBeNull()
  expect(judgeWait({ limit: 5 * HOUR }, { since: 0, until: 5 * HOUR + 1 })).toBe(
    'it would last until 1970-01-01T05:00:00.001Z, and oneshot waits 5 h at most',
  )
})

test('waiting can be without end, or switched off', () => {
  expect(judgeWait({ limit: null }, { since: 0, until: 1_000 * HOUR })).toBeNull()
  expect(judgeWait({ limit: 0 }, { since: 0, until: 1 })).toBe('waiting for usage limits is switched off')
})
