import { expect, test } from 'vitest'
import { hasProgressed, detectHang, type ActivitySample } from './hang-detection.ts'

const QUIET: ActivitySample = { written: 100, recordedAt: 5, cpu: 1_000, processes: [7, 8] }
const MINUTE = 60_000

test.each<[string, Partial<ActivitySample>, boolean]>([
  ['nothing changes', {}, false],
  ['it writes', { written: 101 }, true],
  ['its record grows', { recordedAt: 6 }, true],
  ['a process starts', { processes: [7, 8, 9] }, true],
  ['a process ends', { processes: [7] }, true],
  ['it computes', { cpu: 1_000 + 0.5 * MINUTE }, true],
  ['it only wakes up now and then', { cpu: 1_000 + 0.008 * MINUTE }, false],
])('when %s, it has progressed: %j', (_, change, moved) => {
  expect(hasProgressed(QUIET, { ...QUIET, ...change }, MINUTE)).toBe(moved)
})

test('the hang evidence names every sign of silence', () => {
  const seen = { quiet: 12 * MINUTE, vitals: QUIET, tool: null }
  expect(detectHang(10 * MINUTE, seen)).toBe(
    'silent for 12 min: no output, nothing new in its conversation, no CPU in 2 processes, no open tool call',
  )
  expect(detectHang(10 * MINUTE, { ...seen, quiet: 9 * MINUTE })).toBeNull()
  const single = { ...QUIET, recordedAt: null, processes: [7] }
  expect(detectHang(10 * MINUTE, { ...seen, vitals: single })).toBe(
    'silent for 12 min: no output, no CPU in 1 process, no open tool call',
  )
})

test('an attempt with a running tool may be quiet four times as long', () => {
  const seen = { quiet: 12 * MINUTE, vitals: QUIET, tool: { tool: 'Bash', summary: 'npm test' } }
  expect(detectHang(10 * MINUTE, seen)).toBeNull()
  expect(detectHang(10 * MINUTE, { ...seen, quiet: 40 * MINUTE })).toContain('Bash npm test has not ended')
})
