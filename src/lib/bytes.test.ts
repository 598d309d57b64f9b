import { expect, test } from 'vitest'
import { formatBytes, parseBytes } from './bytes.ts'

test.each([
  ['512M', 512 * 1024 ** 2],
  ['4G', 4 * 1024 ** 3],
  ['1.5 GB', 1.5 * 1024 ** 3],
  ['2GiB', 2 * 1024 ** 3],
  ['100k', 102_400],
  ['123456', 123_456],
])('%s are %i bytes', (text, bytes) => {
  expect(parseBytes(text)).toBe(bytes)
})

test.each(['', '0', 'G', '-1G', '4 elephants', '1e9'])('%j is no amount of memory', text => {
  expect(parseBytes(text)).toBeUndefined()
})

test('formatBytes uses the largest fitting unit', () => {
  expect([0, 1, 1023, 1024, 1536, 10 * 1024 ** 2, 1.5 * 1024 ** 3].map(formatBytes)).toEqual([
    '0 B',
    '1 B',
    '1023 B',
    '1 KB',
    '1.5 KB',
    '10 MB',
    '1.5 GB',
  ])
})
