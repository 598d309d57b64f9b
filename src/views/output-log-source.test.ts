import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { findOffsetOfLastLines, findOffsetSince } from './output-log-source.ts'

let folder: string
let file: string
let times: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'log-'))
  file = path.join(folder, 'transcript')
  times = path.join(folder, 'times')
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

/** Returns the result, and the number of bytes that the action read. */
function countBytes<T>(action: () => T): { result: T; bytes: number } {
  const read = vi.spyOn(fs, 'readSync')
  try {
    const result = action()
    return { result, bytes: read.mock.results.reduce((total, { value }) => total + Number(value), 0) }
  } finally {
    read.mockRestore()
  }
}

test('the last lines of a file of a gigabyte need one block of it', () => {
  const size = 1024 ** 3
  const lines = Array.from({ length: 60 }, (_, n) => `line ${n}`)
  fs.writeFileSync(file, '')
  fs.truncateSync(file, size) // The file has no content on the disk up to here.
  fs.appendFileSync(file, `\n${lines.join('\n')}\n`)
  const { result, bytes } = countBytes(() => findOffsetOfLastLines(file, 50))
  expect(result).toEqual({ offset: fs.statSync(file).size - lines.slice(10).join('\n').length - 1, found: 50 })
  expect(bytes).toBeLessThanOrEqual(65_536)
})

test('findOffsetSince reads the recorded lengths from their end, as far back as the time', () => {
  fs.writeFileSync(file, 'x')
  const count = 50_000
  fs.writeFileSync(times, Array.from({ length: count }, (_, n) => `${1_000_000 + n} ${n * 10}\n`).join(''))
  const source = { file, times, isTranscript: true }
  const { result, bytes } = countBytes(() => findOffsetSince(source, 1_000_000 + count - 5))
  expect(result).toBe((count - 5) * 10)
  expect(bytes).toBeLessThanOrEqual(65_536)
  expect(findOffsetSince(source, 1_000_007)).toBe(70)
  expect(findOffsetSince(source, 999)).toBe(0)
})

test('findOffsetOfLastLines agrees with a split of the whole text', () => {
  const text = fc.array(fc.constantFrom('', 'a', 'bc'), { maxLength: 12 }).map(lines => lines.join('\n'))
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 6 }), (content, count) => {
      fs.writeFileSync(file, content)
      const lines = content.replace(/\n$/, '').split('\n')
      const { offset } = findOffsetOfLastLines(file, count)
      expect(content.slice(offset).replace(/\n$/, '')).toBe(lines.slice(-count).join('\n'))
    }),
  )
})
