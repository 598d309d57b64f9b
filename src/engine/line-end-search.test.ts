import { expect, test } from 'vitest'
import { testSessionId } from '../../testkit/core/ids.ts'
import type { Runtime } from '../ports/runtime.ts'
import { UnfinishedLines } from './line-end-search.ts'

const ref = { sessionId: testSessionId('s1'), name: 'a', attempt: 1, mode: 'headless' } as const
const LIMIT = 1_000_000

/** Returns an output that grows, and counts the bytes that its reader has read. */
function growing(): { work: Runtime; grow: (text: string) => void; read: () => number } {
  let output = ''
  let read = 0
  const work = {
    readOutput: (_: unknown, offset: number, limit: number) => {
      const bytes = Buffer.from(output.slice(offset, offset + limit))
      read += bytes.length
      return bytes
    },
  }
  return { work: work as unknown as Runtime, grow: text => (output += text), read: () => read }
}

test('the search reads a long line that grows piece by piece once, and not from its beginning for each piece', () => {
  const { work, grow, read } = growing()
  const lines = new UnfinishedLines()
  grow('a'.repeat(1_000))
  lines.note(ref, 0, 1_000)
  for (let piece = 0; piece < 100; piece++) {
    grow('a'.repeat(1_000))
    expect(lines.isUnfinished(ref, 0, work, LIMIT)).toBe(true)
  }
  expect(read()).toBe(100_000)
})

test('a line with an end, or beyond the length limit, no longer counts as unfinished', () => {
  const { work, grow } = growing()
  const lines = new UnfinishedLines()
  grow('aaaa')
  lines.note(ref, 0, 4)
  expect(lines.isUnfinished(ref, 0, work, 4)).toBe(false)
  grow('a\n')
  expect(lines.isUnfinished(ref, 0, work, LIMIT)).toBe(false)
})

test('a search result does not apply to another offset or another attempt', () => {
  const { work } = growing()
  const lines = new UnfinishedLines()
  lines.note(ref, 0, 4)
  expect(lines.isUnfinished(ref, 7, work, LIMIT)).toBe(false)
  expect(lines.isUnfinished({ ...ref, attempt: 2 }, 0, work, LIMIT)).toBe(false)
})
