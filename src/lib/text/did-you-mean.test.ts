import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { editDistance, didYouMean } from './did-you-mean.ts'

const COMMANDS = ['run', 'list', 'status', 'stop', 'log', 'follow', 'attach', 'killall', 'wait', 'clean']

test.each([
  ['stauts', 'status'],
  ['lst', 'list'],
  ['follw', 'follow'],
  ['STOP', 'stop'],
  ['kil', 'killall'],
  ['att', 'attach'],
  ['rum', 'run'],
  ['xyzzy', undefined],
  ['', undefined],
])('%j most likely meant %j', (word, meant) => {
  expect(didYouMean(word, COMMANDS)).toBe(meant)
})

test('every known word is nearest to itself', () => {
  expect(COMMANDS.map(word => didYouMean(word, COMMANDS))).toEqual(COMMANDS)
})

test('the edit distance is symmetric, zero for the same word, and at most the length of the longer word', () => {
  const word = fc.string({ maxLength: 8, unit: fc.constantFrom('a', 'b', 'c') })
  fc.assert(
    fc.property(word, word, (a, b) => {
      const edits = editDistance(a, b)
      expect(edits).toBe(editDistance(b, a))
      expect(edits === 0).toBe(a === b)
      expect(edits).toBeLessThanOrEqual(Math.max(a.length, b.length))
    }),
  )
})
