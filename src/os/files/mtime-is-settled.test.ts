import { expect, test } from 'vitest'
import { isSettled } from './mtime-is-settled.ts'

const AT = 1_700_000_000_000

test('a change within the same tick of a fine clock leaves the file unsettled', () => {
  expect(isSettled({ ctimeMs: AT + 123.456 }, AT + 200)).toBe(false)
  expect(isSettled({ ctimeMs: AT + 123.456 }, AT + 230)).toBe(true)
})

test('a file system with whole seconds needs a longer time', () => {
  expect(isSettled({ ctimeMs: AT }, AT + 1_900)).toBe(false)
  expect(isSettled({ ctimeMs: AT }, AT + 2_001)).toBe(true)
})

test('a time in the future is not settled, and a missing file is settled', () => {
  expect(isSettled({ ctimeMs: AT + 5_000.5 }, AT)).toBe(false)
  expect(isSettled(undefined, AT)).toBe(true)
})
