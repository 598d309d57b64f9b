import { expect, test } from 'vitest'
import { aLoop, BEGIN } from '../../testkit/core/loops.ts'
import { narrowed, widened, widensAt } from './width.ts'

const MINUTE = 60_000
const loop = { ...aLoop([], {}, { parallel: 4 }), width: 4 }

test('a usage limit halves how many work at a time, once for all who meet it together, and one always may', () => {
  const once = narrowed(loop, BEGIN)
  expect(once.width).toBe(2)
  expect(narrowed(once, BEGIN + 1_000).width, 'the same limit').toBe(2)
  const again = narrowed(once, BEGIN + 2 * MINUTE)
  expect(again.width).toBe(1)
  expect(narrowed(again, BEGIN + 4 * MINUTE).width).toBe(1)
})

test('after five minutes without one there is one more, and so on until all are back', () => {
  const narrow = narrowed(loop, BEGIN)
  expect(widensAt(narrow)).toBe(BEGIN + 5 * MINUTE)
  expect(widened(narrow, BEGIN + 5 * MINUTE - 1).width).toBe(2)
  const three = widened(narrow, BEGIN + 5 * MINUTE)
  expect(three.width).toBe(3)
  expect(widened(three, BEGIN + 6 * MINUTE).width).toBe(3)
  const four = widened(three, BEGIN + 10 * MINUTE)
  expect(four.width).toBe(4)
  expect(widensAt(four)).toBeNull()
})
