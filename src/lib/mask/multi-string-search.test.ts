import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { MultiStringSearch } from './multi-string-search.ts'

const finder = (...words: string[]): MultiStringSearch => new MultiStringSearch(words.map(word => Buffer.from(word)))

test('the search finds a word at its end, also within another one, and after one that only began', () => {
  expect(finder('he', 'she', 'hers').firstEnd(Buffer.from('ushers'), 0)).toBe(4)
  expect(finder('abcd', 'bc').firstEnd(Buffer.from('abce'), 0)).toBe(3)
  expect(finder('aab').firstEnd(Buffer.from('aaab'), 0)).toBe(4)
  expect(finder('ab').firstEnd(Buffer.from('ab ab'), 2)).toBe(5)
  expect(finder('x').firstEnd(Buffer.from('abc'), 0)).toBe(-1)
  expect(finder('').firstEnd(Buffer.from('abc'), 0)).toBe(-1)
})

test('for any words and any text, the search finds exactly the words in the text', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 4 })
  const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd'), maxLength: 40 })
  fc.assert(
    fc.property(fc.array(letters, { maxLength: 6 }), texts, fc.nat(40), (words, text, from) => {
      const part = text.slice(from)
      const bytes = Buffer.from(text)
      const there = words.flatMap((word, index) => (part.includes(word) ? [index] : []))
      const ends = there.map(index => from + part.indexOf(words[index] ?? '') + (words[index]?.length ?? 0))
      expect([...finder(...words).wordsIn(bytes, from, text.length)].sort((a, b) => a - b)).toEqual(there)
      expect(finder(...words).firstEnd(bytes, from)).toBe(ends.length === 0 ? -1 : Math.min(...ends))
    }),
  )
})
