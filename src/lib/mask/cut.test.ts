import { expect, test } from 'vitest'
import { cut } from './cut.ts'
import { hideWithin } from './hide-within.ts'
import { Mask } from './mask.ts'

const TOKEN = 'AIzaSyA1bC2dE3fG4hI5jK6lM7nO8pQ9rS0tU1v'

test('a text that is too long is cut, and a secret that would be cut through is hidden', () => {
  expect(cut('short', 5)).toBe('short')
  expect(cut('longer', 5)).toBe('long…')
  expect(cut(`${'x'.repeat(20)} ${TOKEN}`, 40)).toBe(`${'x'.repeat(20)} AIza${'*'.repeat(14)}…`)
})

test('secrets are hidden in every text of something', () => {
  const hidden = { list: [`key ${'*'.repeat(8)}`, 1, null], in: { it: true } }
  expect(hideWithin({ list: ['key let-me-1', 1, null], in: { it: true } }, new Mask(['let-me-1']))).toEqual(hidden)
})
