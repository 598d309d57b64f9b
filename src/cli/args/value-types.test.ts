import { expect, test } from 'vitest'
import { COUNT, USD_AMOUNT, wordType } from './value-types.ts'

test.each([
  ['500k', 500_000],
  ['2M', 2_000_000],
  ['1.5m', 1_500_000],
  ['20000', 20_000],
  ['0', undefined],
  ['1.5', undefined],
  ['-3', undefined],
  ['2G', undefined],
  ['many', undefined],
])('%s is a count of %s', (text, count) => {
  expect(COUNT.read(text)).toBe(count)
})

test.each([
  ['5', 5],
  ['$2.50', 2.5],
  ['.5', 0.5],
  ['0', undefined],
  ['0.00', undefined],
  ['-1', undefined],
  ['1e3', undefined],
  ['free', undefined],
])('%s is an amount of %s dollars', (text, amount) => {
  expect(USD_AMOUNT.read(text)).toBe(amount)
})

test('wordType accepts any text but an empty one', () => {
  expect(['opus', 'a/b:c', ' '].map(wordType('MODEL').read)).toEqual(['opus', 'a/b:c', undefined])
})
