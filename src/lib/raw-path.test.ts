import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { below, bytesOf, decodeRaw, encodeRaw, foldersOf, joinRaw, rawPath, shown, splitRaw } from './raw-path.ts'

const anyPath = fc.uint8Array({ minLength: 1 }).map(bytes => rawPath(bytes.map(byte => (byte === 0 ? 1 : byte))))

test('any name survives being written and read, in each form', () => {
  fc.assert(
    fc.property(fc.array(anyPath), paths => {
      expect(splitRaw(joinRaw(paths))).toEqual(paths)
      expect(paths.map(path => decodeRaw(encodeRaw(path)))).toEqual(paths)
      expect(paths.map(path => rawPath(bytesOf(path)))).toEqual(paths)
      for (const path of paths) expect(encodeRaw(path)).toMatch(/^[\x21-\x7e]+$/)
    }),
  )
})

test('a name is shown as text on one line', () => {
  expect(shown(rawPath(Buffer.from('grün\n\u2028.txt')))).toBe('grün??.txt')
  expect(shown('\xff.txt')).toBe('\ufffd.txt')
})

test('a path lies in folders', () => {
  expect(foldersOf('a/b/c')).toEqual(['a', 'a/b'])
  expect(foldersOf('a')).toEqual([])
  expect(below('/top', '\xff')).toEqual(Buffer.from([...Buffer.from('/top/'), 0xff]))
})
