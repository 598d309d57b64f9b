import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeLossless, encodeLossless, toWellFormed } from './lossless-utf8.ts'

test('any bytes come back unchanged', () => {
  const text = fc.string({ unit: 'binary' }).map(words => new TextEncoder().encode(words))
  const bytes = fc.array(fc.oneof(text, fc.uint8Array({ maxLength: 6 }))).map(parts => Buffer.concat(parts))
  fc.assert(
    fc.property(bytes, bytes => {
      expect(Buffer.from(encodeLossless(decodeLossless(bytes)))).toEqual(bytes)
    }),
  )
})

test('valid UTF-8 decodes to plain text, a byte order mark included', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), words => {
      expect(decodeLossless(new TextEncoder().encode(`\ufeff${words}`))).toBe(`\ufeff${words}`)
      expect(toWellFormed(words)).toBe(words)
    }),
  )
})

test('toWellFormed shows an invalid byte as the replacement character', () => {
  const text = decodeLossless(Uint8Array.of(0x61, 0xff, 0xc3, 0xa9, 0xe2, 0x82))
  expect(toWellFormed(text)).toBe('a\ufffdé\ufffd\ufffd')
})
