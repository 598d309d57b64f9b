import { expect, test } from 'vitest'
import { truncateToWidth, displayWidth, padToWidth } from './display-width.ts'

test('wide characters take two columns, combining marks and joiners none', () => {
  expect(['abc', 'é', 'e\u0301', '修复', '🚀', 'a\u200db', '…'].map(displayWidth)).toEqual([3, 1, 1, 4, 2, 2, 1])
})

test('a truncated text and its ellipsis fit the width', () => {
  expect(truncateToWidth('abcdef', 6)).toBe('abcdef')
  expect(truncateToWidth('abcdefg', 6)).toBe('abcde…')
  expect(truncateToWidth('修复修复', 6)).toBe('修复…')
  expect(truncateToWidth('abc', 0)).toBe('')
})

test('padding counts columns, not characters', () => {
  expect(padToWidth('修', 4)).toBe('修  ')
})
