import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  joinBelow,
  rawPathBytes,
  decodeRawPath,
  encodeRawPath,
  parentFolders,
  joinRawPaths,
  rawPath,
  displayPath,
  splitRawPaths,
} from './raw-path.ts'

const anyPath = fc.uint8Array({ minLength: 1 }).map(bytes => rawPath(bytes.map(byte => (byte === 0 ? 1 : byte))))

test('any name survives a write and a read, in each form', () => {
  fc.assert(
    fc.property(fc.array(anyPath), paths => {
      expect(splitRawPaths(joinRawPaths(paths))).toEqual(paths)
      expect(paths.map(path => decodeRawPath(encodeRawPath(path)))).toEqual(paths)
      expect(paths.map(path => rawPath(rawPathBytes(path)))).toEqual(paths)
      for (const path of paths) expect(encodeRawPath(path)).toMatch(/^[\x21-\x7e]+$/)
    }),
  )
})

test('displayPath shows a name as text on one line', () => {
  expect(displayPath(rawPath(Buffer.from('grün\n\u2028.txt')))).toBe('grün??.txt')
  expect(displayPath('\xff.txt')).toBe('\ufffd.txt')
})

test('parentFolders returns the folders of a path', () => {
  expect(parentFolders('a/b/c')).toEqual(['a', 'a/b'])
  expect(parentFolders('a')).toEqual([])
  expect(joinBelow('/top', '\xff')).toEqual(Buffer.from([...Buffer.from('/top/'), 0xff]))
})
