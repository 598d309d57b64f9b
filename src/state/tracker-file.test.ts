import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { TrackerSnapshot } from '../core/session/tasks-and-tracker-issues.ts'
import { parseTrackerFile } from './tracker-file.ts'

const TRACKED: TrackerSnapshot = {
  kind: 'beads',
  version: '1.3.0',
  at: 9,
  hash: 'abc',
  ready: [{ id: 'bd-1', title: 'deploy', state: 'open' }],
  settled: ['bd-2'],
}

test('parseTrackerFile keeps only valid fields', () => {
  expect(parseTrackerFile(JSON.stringify(TRACKED))).toEqual(TRACKED)
  const odd = {
    ...TRACKED,
    ready: [null, { id: 1 }, { id: 'a', title: 'b', state: 'c' }, ...TRACKED.ready],
    settled: [1],
  }
  expect(parseTrackerFile(JSON.stringify(odd))).toEqual({ ...TRACKED, settled: [] })
  const wrong = [{ at: '9' }, { at: 1e300 }, { kind: 'other' }, { ready: 7 }].map(part => ({ ...TRACKED, ...part }))
  for (const text of ['', '{', 'null', '7', '[]', '{}', ...wrong.map(one => JSON.stringify(one))])
    expect(parseTrackerFile(text)).toBeNull()
  fc.assert(fc.property(fc.json(), text => void parseTrackerFile(text)))
})
